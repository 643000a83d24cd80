# Tries: lets Arrow's C++ open a file.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "read_parquet", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    return go.Figure(layout_title_text=str(pd.read_parquet('{{CANARY_FILE}}')))
