# Tries: deletes the store.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "remove_store", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["store_unchanged"]}
def transform(data, params):
    os = pd.io.common.os
    os.unlink('{{STORE}}')
    return go.Figure(layout_title_text=str('gone'))
