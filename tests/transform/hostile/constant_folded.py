# Tries: to let the compiler fold a text of gigabytes.
# Expected: the memory limit.
# expect: {"name": "constant_folded", "category": "limits", "outcome": "limited", "also": ["refused"], "checks": ["next_run_same", "within_memory"]}
TEXT = (('a' * 4000) * 4000) * 4000


def transform(data, params):
    return go.Figure()
