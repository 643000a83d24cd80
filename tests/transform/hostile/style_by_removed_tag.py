# Tries: hides the name of a style in two halves with a tag between them that the page takes out.
# Expected: refused.
# expect: {"name": "style_by_removed_tag", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_connection"]}
def transform(data, params):
    style = "style='background-image:url(http://127.0.0.1:{{PORT}}/)'>"
    return go.Figure(go.Scatter(y=[1, 2], name='<b sty<x>' + style[3:]))
