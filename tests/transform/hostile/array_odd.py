# Tries: gives an array of an unknown type.
# Expected: refused.
# expect: {"name": "array_odd", "category": "figure", "outcome": "refused", "also": [], "checks": ["strict_json"]}
def transform(data, params):
    return {'data': [{'type': 'bar', 'y': {'dtype': 'x8', 'bdata': '!!!!'}}], 'layout': {}}
