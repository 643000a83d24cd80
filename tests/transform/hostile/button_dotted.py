# Tries: lets a button fetch a picture, by a dotted key.
# Expected: refused.
# expect: {"name": "button_dotted", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'sliders': [{'steps': [{'method': 'relayout', 'args': [{'images[0].source': 'https://example.org/x.png'}]}]}]}}
