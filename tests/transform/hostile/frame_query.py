# Tries: runs Python from the text of a query.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "frame_query", "category": "evaluation", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    f = pd.DataFrame({'a': [1]})
    return go.Figure(layout_title_text=str(f.query('@pd.io.common.os.listdir("/")')))
