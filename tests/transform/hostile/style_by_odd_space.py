# Tries: separates a style from its value by what only JavaScript calls a space.
# Expected: refused.
# expect: {"name": "style_by_odd_space", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_connection"]}
def transform(data, params):
    style = "style='background-image:url(http://127.0.0.1:{{PORT}}/)'>"
    return go.Figure(go.Scatter(y=[1, 2]), layout_title_text='<b ' + style.replace('=', '\ufeff=\ufeff', 1) + 'x')
