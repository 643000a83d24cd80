# Tries: hides a picture in a frame.
# Expected: refused.
# expect: {"name": "frame_image", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {}, 'frames': [{'layout': {'images': [{'source': 'https://example.org/x.png'}]}}]}
