# Tries: shows a picture from elsewhere.
# Expected: refused.
# expect: {"name": "remote_image", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'images': [{'source': 'http://127.0.0.1:{{PORT}}/x.png'}]}}
