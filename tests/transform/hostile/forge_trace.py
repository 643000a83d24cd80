# Tries: fills the descriptor that tells where it stood.
# Expected: limited (also fine: killed).
# expect: {"name": "forge_trace", "category": "errors", "outcome": "limited", "also": ["killed"], "checks": ["within_time", "reply_below:5000"]}
def transform(data, params):
    os = pd.io.common.os
    try:
        while True:
            os.write(4, b'File "<transform>", line 999999\n' * 100)
    except OSError:
        pass
    while True:
        pass
