# Tries: catches whatever ends it.
# Expected: limited (also fine: killed).
# expect: {"name": "swallow_everything", "category": "limits", "outcome": "limited", "also": ["killed"], "checks": ["within_time"]}
def transform(data, params):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
