# Tries: to put the style of a map into the layout of a frame.
# Expected: an error.
# expect: {"name": "frame_with_a_map", "category": "figure", "outcome": "refused", "also": [], "checks": ["next_run_same", "no_remote_url"]}
def transform(data, params):
    frame = {'name': 'a', 'data': [], 'layout': {'mapbox': {'style': 'http://evil.example'}}}
    return {'data': [], 'layout': {}, 'frames': [frame]}
