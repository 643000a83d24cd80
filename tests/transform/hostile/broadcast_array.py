# Tries: to return a view of one number as an array of a thousand million.
# Expected: the memory limit.
# expect: {"name": "broadcast_array", "category": "limits", "outcome": "limited", "also": ["refused"], "checks": ["next_run_same", "within_memory"]}
def transform(data, params):
    return {'data': [{'type': 'scatter', 'x': np.broadcast_to(np.float64(1), (10**9,))}], 'layout': {}}
