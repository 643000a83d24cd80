# Tries: closes its descriptors, so that the next one opened takes the place of the reply.
# Expected: killed (also fine: refused, limited).
# expect: {"name": "close_and_reopen", "category": "files", "outcome": "killed", "also": ["refused", "limited"], "checks": ["no_canary", "server_alive"]}
def transform(data, params):
    os = pd.io.common.os
    os.close(3)
    os.close(4)
    return go.Figure(layout_title_text=str(os.open('{{CANARY_FILE}}', 0)))
