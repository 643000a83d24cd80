# Tries: answers with bytes of no meaning.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "forge_garbage", "category": "errors", "outcome": "refused", "also": ["killed", "limited"], "checks": ["reply_is_figure_or_error", "server_alive"]}
def transform(data, params):
    os = pd.io.common.os
    os.write(3, bytes(range(256)) * 16)
    os._exit(0)
