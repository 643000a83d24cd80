# Tries: ends the process as if all were well.
# Expected: killed (also fine: refused).
# expect: {"name": "leave", "category": "native", "outcome": "killed", "also": ["refused"], "checks": ["server_alive", "reply_is_figure_or_error"]}
def transform(data, params):
    os = pd.io.common.os
    os._exit(0)
