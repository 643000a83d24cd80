# Tries: adds tiles to a map.
# Expected: refused.
# expect: {"name": "map_layer", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'map2': {'layers': [{'sourcetype': 'raster', 'source': ['https://example.org/{z}/{x}/{y}.png']}]}}}
