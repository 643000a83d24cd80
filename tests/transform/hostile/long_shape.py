# Tries: gives an array a shape of millions of lengths.
# Expected: refused (also fine: limited).
# expect: {"name": "long_shape", "category": "figure", "outcome": "refused", "also": ["limited"], "checks": ["server_alive"]}
def transform(data, params):
    return {'data': [{'type': 'bar', 'y': {'dtype': 'f8', 'bdata': '', 'shape': '1,' * 5_000_000 + '1'}}], 'layout': {}}
