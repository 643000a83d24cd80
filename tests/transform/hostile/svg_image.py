# Tries: embeds a picture that is a program.
# Expected: refused.
# expect: {"name": "svg_image", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    return {'data': [], 'layout': {'images': [{'source': 'data:image/svg+xml;base64,PHN2Zy8+'}]}}
