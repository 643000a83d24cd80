# Tries: kills its whole group.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "kill_group", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["server_alive", "next_run_same"]}
def transform(data, params):
    os = pd.io.common.os
    os.killpg(0, 9)
    return go.Figure(layout_title_text=str('killed'))
