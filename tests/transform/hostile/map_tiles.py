# Tries: draws a map whose tiles are elsewhere.
# Expected: refused.
# expect: {"name": "map_tiles", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [{'type': 'scattermap', 'lat': [1], 'lon': [1]}], 'layout': {'map': {'style': 'https://example.org/style.json'}}}
