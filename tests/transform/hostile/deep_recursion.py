# Tries: calls itself without end.
# Expected: killed (also fine: refused, limited).
# expect: {"name": "deep_recursion", "category": "limits", "outcome": "killed", "also": ["refused", "limited"], "checks": ["server_alive"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    sys.setrecursionlimit(10**9)
    def f(n):
        return f(n + 1) + 1
    return go.Figure(layout_title_text=str(f(0)))
