# Tries: shows arguments, modules and the environment of Python.
# Expected: harmless (also fine: killed, limited).
# expect: {"name": "arguments_and_path", "category": "environment", "outcome": "harmless", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    return go.Figure(layout_title_text=str([sys.argv, dict(sys.modules['os'].environ), sys.orig_argv]))
