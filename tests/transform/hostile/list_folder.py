# Tries: lists a folder through pandas' own os.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "list_folder", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    os = pd.io.common.os
    return go.Figure(layout_title_text=str(os.listdir('{{WRITABLE}}')))
