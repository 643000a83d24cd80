# Tries: puts a style that fetches together from two parts of meta.
# Expected: refused.
# expect: {"name": "style_by_meta", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_connection"]}
def transform(data, params):
    style = "style='background-image:url(http://127.0.0.1:{{PORT}}/)'>"
    return go.Figure(go.Bar(y=[1, 2]), dict(title=dict(text='%{meta.a}%{meta.b}x'), meta=dict(a='<b st', b=style[2:])))
