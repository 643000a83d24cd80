# Tries: fills memory and catches the error.
# Expected: limited (also fine: killed, refused).
# expect: {"name": "list_grows_caught", "category": "limits", "outcome": "limited", "also": ["killed", "refused"], "checks": ["within_memory", "within_time"]}
def transform(data, params):
    kept = []
    while True:
        try:
            kept.append(bytearray(2**16))
        except MemoryError:
            pass
