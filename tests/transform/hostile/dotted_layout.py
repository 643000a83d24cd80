# Tries: names a picture by a dotted key.
# Expected: refused.
# expect: {"name": "dotted_layout", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'images[0].source': 'https://example.org/x.png'}}
