# Tries: to return a layout that is nested 100 000 levels deep.
# Expected: an error about its depth.
# expect: {"name": "nested_100000_deep", "category": "figure", "outcome": "refused", "also": ["limited", "killed"], "checks": ["next_run_same"]}
def transform(data, params):
    top = below = {}
    for _ in range(100_000):
        below['a'] = below = {}
    return {'data': [], 'layout': {'meta': top}}
