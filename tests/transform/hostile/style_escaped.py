# Tries: writes the same with escapes.
# Expected: refused.
# expect: {"name": "style_escaped", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_canary"]}
def transform(data, params):
    return go.Figure(layout_title_text='<b STYLE = \'cursor: u\\72l(https://example.org/x.png)\'>x</b>')
