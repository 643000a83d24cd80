# Tries: reaches os through pandas and opens the secret.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "os_through_pandas", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    os = pd.io.common.os
    fd = os.open('{{CANARY_FILE}}', os.O_RDONLY)
    return go.Figure(layout_title_text=str(os.read(fd, 1000)))
