# Tries: gives an array fewer bytes than its shape.
# Expected: refused.
# expect: {"name": "array_short", "category": "figure", "outcome": "refused", "also": [], "checks": ["strict_json"]}
def transform(data, params):
    return {'data': [{'type': 'heatmap', 'z': {'dtype': 'f8', 'bdata': 'AAAAAAAA8D8=', 'shape': '1000000, 1000000'}}], 'layout': {}}
