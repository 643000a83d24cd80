# Tries: puts a style that fetches together from the prefix and the suffix of an axis.
# Expected: refused.
# expect: {"name": "style_by_affixes", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_connection"]}
def transform(data, params):
    before, after = "<b style='background-image:url(http://127.0.0.1:{{PORT}}/", ")'>x</b>"
    return go.Figure(go.Bar(y=[1, 2]), layout_xaxis=dict(tickprefix=before, ticksuffix=after))
