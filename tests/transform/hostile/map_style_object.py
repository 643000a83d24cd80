# Tries: gives a map a style with addresses in it.
# Expected: refused.
# expect: {"name": "map_style_object", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'mapbox': {'style': {'version': 8, 'sources': {'a': {'url': 'https://example.org/a.json'}}}}}}
