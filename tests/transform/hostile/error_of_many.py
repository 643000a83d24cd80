# Tries: to raise a group of 100 000 errors.
# Expected: an error.
# expect: {"name": "error_of_many", "category": "errors", "outcome": "refused", "also": ["limited", "killed"], "checks": ["next_run_same", "reply_below:20000"]}
def transform(data, params):
    raise BaseExceptionGroup('many', [KeyboardInterrupt() for _ in range(100_000)])
