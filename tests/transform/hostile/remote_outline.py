# Tries: fetches the outlines of a map.
# Expected: refused.
# expect: {"name": "remote_outline", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [{'type': 'choropleth', 'geojson': 'https://example.org/a.json', 'z': [1]}], 'layout': {}}
