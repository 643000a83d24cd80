# Tries: maps a file by Arrow.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "arrow_map", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    return go.Figure(layout_title_text=str(sys.modules['pyarrow'].memory_map('{{CANARY_FILE}}').read()))
