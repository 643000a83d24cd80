# Tries: reads a file as if it were source.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "linecache_read", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    return go.Figure(layout_title_text=str(sys.modules['linecache'].getlines('{{CANARY_FILE}}') or 1 / 0))
