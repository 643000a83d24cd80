# Tries: ends by SystemExit.
# Expected: refused (also fine: killed).
# expect: {"name": "exit_silently", "category": "errors", "outcome": "refused", "also": ["killed"], "checks": ["reply_is_figure_or_error"]}
def transform(data, params):
    raise SystemExit(0)
