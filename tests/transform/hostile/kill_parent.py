# Tries: kills the process it was forked from.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "kill_parent", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["server_alive", "next_run_same"]}
def transform(data, params):
    os = pd.io.common.os
    os.kill(os.getppid(), 9)
    return go.Figure(layout_title_text=str('killed'))
