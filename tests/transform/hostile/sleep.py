# Tries: sleeps for a year.
# Expected: limited (also fine: killed).
# expect: {"name": "sleep", "category": "limits", "outcome": "limited", "also": ["killed"], "checks": ["within_time"]}
def transform(data, params):
    import time
    time.sleep(3e7)
