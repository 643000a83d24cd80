# Tries: lets a style in a text fetch.
# Expected: refused.
# expect: {"name": "style_fetches", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_canary"]}
def transform(data, params):
    return go.Figure(layout_title_text='<span style="cursor: url(https://example.org/x.png), auto">x</span>')
