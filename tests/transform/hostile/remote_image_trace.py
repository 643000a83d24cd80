# Tries: draws a trace whose picture is elsewhere.
# Expected: refused.
# expect: {"name": "remote_image_trace", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [{'type': 'image', 'source': '//127.0.0.1:{{PORT}}/x.png'}], 'layout': {}}
