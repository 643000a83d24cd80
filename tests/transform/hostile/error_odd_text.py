# Tries: raises an error of half characters, zeros and control characters.
# Expected: refused (also fine: killed).
# expect: {"name": "error_odd_text", "category": "errors", "outcome": "refused", "also": ["killed"], "checks": ["strict_json", "reply_is_figure_or_error"]}
def transform(data, params):
    raise ValueError('\ud800\x00\x1b[2J\u202e' * 10)
