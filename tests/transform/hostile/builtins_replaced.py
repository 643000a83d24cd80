# Tries: to replace functions that the answer is made with.
# Expected: an error, or the figure; the next run is the same.
# expect: {"name": "builtins_replaced", "category": "isolation", "outcome": "refused", "also": ["harmless", "killed"], "checks": ["next_run_same", "no_remote_url"]}
def transform(data, params):
    there = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
    there['len'] = lambda _: 10**9
    there['isinstance'] = lambda *_: True
    return {'data': [{'type': 'choropleth'}], 'layout': {}}
