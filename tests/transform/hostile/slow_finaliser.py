# Tries: never ends while it is collected.
# Expected: limited (also fine: killed, harmless).
# expect: {"name": "slow_finaliser", "category": "limits", "outcome": "limited", "also": ["killed", "harmless"], "checks": ["within_time"]}
def transform(data, params):
    class Slow:
        def __del__(self):
            while True:
                pass
    Slow()
    return go.Figure()
