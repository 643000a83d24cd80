# Tries: starts a thread that outlives the time limit.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "thread", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_process"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    t = sys.modules['threading'].Thread(target=lambda: None)
    t.start()
    return go.Figure(layout_title_text=str(t))
