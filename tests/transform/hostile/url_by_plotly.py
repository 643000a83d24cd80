# Tries: lets pandas read from an address, compressed.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "url_by_plotly", "category": "network", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_connection"]}
def transform(data, params):
    return go.Figure(layout_title_text=str(pd.read_json('http://127.0.0.1:{{PORT}}/x.json.gz')))
