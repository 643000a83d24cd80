# Tries: hides the name of a style behind a letter that is no form of times.
# Expected: refused.
# expect: {"name": "style_by_time_form", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_connection"]}
def transform(data, params):
    style = "style='background-image:url(http://127.0.0.1:{{PORT}}/)'>"
    return go.Figure(go.Bar(x=['2024-01-01', '2025-01-01'], y=[1, 2]), layout_xaxis_tickformat='<b sty%' + style[3:] + '%Y')
