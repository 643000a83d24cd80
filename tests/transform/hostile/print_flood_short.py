# Tries: prints ten million characters, then draws.
# Expected: harmless (also fine: limited, killed).
# expect: {"name": "print_flood_short", "category": "limits", "outcome": "harmless", "also": ["limited", "killed"], "checks": ["reply_below:200000", "strict_json"]}
def transform(data, params):
    for n in range(100):
        print('\u20ac' * 100_000)
    return go.Figure()
