# Tries: lets a button fetch a picture, by the name of the property.
# Expected: refused.
# expect: {"name": "button_image", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'updatemenus': [{'buttons': [{'method': 'relayout', 'args': ['images[0].source', 'https://example.org/x.png']}]}]}}
