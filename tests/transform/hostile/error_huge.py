# Tries: raises an error of a hundred million characters.
# Expected: refused (also fine: limited, killed).
# expect: {"name": "error_huge", "category": "errors", "outcome": "refused", "also": ["limited", "killed"], "checks": ["server_alive", "reply_below:20000"]}
def transform(data, params):
    raise ValueError('x' * 10**8)
