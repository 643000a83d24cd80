# Tries: learns which files there are.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "stat_probe", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    os = pd.io.common.os
    return go.Figure(layout_title_text=str(os.stat('/etc/passwd')))
