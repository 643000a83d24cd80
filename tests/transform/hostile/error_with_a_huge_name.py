# Tries: to raise an error whose class has a name of ten million characters.
# Expected: an error of some length.
# expect: {"name": "error_with_a_huge_name", "category": "errors", "outcome": "refused", "also": ["limited"], "checks": ["next_run_same", "reply_below:20000"]}
Long = type('A' * 10_000_000, (Exception,), {})


def transform(data, params):
    raise Long('x' * 10_000_000)
