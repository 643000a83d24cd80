# Tries: to raise an error with 200 000 causes.
# Expected: an error.
# expect: {"name": "error_with_a_long_past", "category": "errors", "outcome": "refused", "also": ["limited", "killed"], "checks": ["next_run_same", "reply_below:20000"]}
def transform(data, params):
    last = None
    for n in range(200_000):
        error = ValueError(n)
        error.__cause__ = last
        last = error
    raise last
