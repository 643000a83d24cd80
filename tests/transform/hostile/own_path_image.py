# Tries: lets the viewer's browser ask the server itself.
# Expected: refused.
# expect: {"name": "own_path_image", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'images': [{'source': '/projects'}]}}
