# Tries: fills memory in small pieces.
# Expected: limited (also fine: killed, refused).
# expect: {"name": "list_grows", "category": "limits", "outcome": "limited", "also": ["killed", "refused"], "checks": ["within_memory", "within_time"]}
def transform(data, params):
    kept = []
    while True:
        kept.append(bytearray(2**20))
