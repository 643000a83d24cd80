# Tries: replaces the serialiser and what checks scripts.
# Expected: refused (also fine: killed).
# expect: {"name": "patch_serialiser", "category": "isolation", "outcome": "refused", "also": ["killed"], "checks": ["next_run_same", "strict_json"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    m = sys.modules
    m['workbench.transform.inprocess'].encode = lambda figure: b'{"data": [], "layout": {"title": {"text": NaN}}}'
    return go.Figure()
