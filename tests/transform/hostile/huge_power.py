# Tries: computes a number of a thousand million digits.
# Expected: limited (also fine: killed, refused).
# expect: {"name": "huge_power", "category": "limits", "outcome": "limited", "also": ["killed", "refused"], "checks": ["within_time", "within_memory"]}
def transform(data, params):
    return go.Figure(layout_title_text=str(len(str(7 ** 10 ** 9))))
