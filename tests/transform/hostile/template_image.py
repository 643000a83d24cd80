# Tries: hides a picture in the template.
# Expected: refused.
# expect: {"name": "template_image", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'template': {'layout': {'images': [{'source': 'https://example.org/x.png'}]}}}}
