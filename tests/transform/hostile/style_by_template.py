# Tries: puts a style that fetches into a template of texts.
# Expected: refused.
# expect: {"name": "style_by_template", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_connection"]}
def transform(data, params):
    style = "style='background-image:url(http://127.0.0.1:{{PORT}}/)'>"
    return go.Figure(go.Scatter(y=[1, 2], mode='text', texttemplate='<b sty%{customdata}x', customdata=[style[3:]] * 2))
