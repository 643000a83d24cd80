# Tries: takes the real open out of the loaded modules.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "real_open", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    return go.Figure(layout_title_text=str(sys.modules['builtins'].open('{{CANARY_FILE}}').read()))
