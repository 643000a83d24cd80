# Tries: reads a link of /proc, which Landlock alone would allow.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "read_link", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    os = pd.io.common.os
    return go.Figure(layout_title_text=str(os.readlink('/proc/self/exe')))
