# Tries: matches a pattern that takes for ever.
# Expected: limited (also fine: killed).
# expect: {"name": "slow_expression", "category": "limits", "outcome": "limited", "also": ["killed"], "checks": ["within_time"]}
def transform(data, params):
    import re
    return go.Figure(layout_title_text=str(re.match('(a+)+$', 'a' * 60 + 'b')))
