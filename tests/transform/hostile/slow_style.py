# Tries: gives a style that makes a careless search for functions run for hours.
# Expected: refused (also fine: harmless).
# expect: {"name": "slow_style", "category": "figure", "outcome": "refused", "also": ["harmless"], "checks": ["server_alive"]}
def transform(data, params):
    return {'data': [], 'layout': {'title': {'text': '<b style=' + chr(34) + 'a' * 3_000_000 + chr(34) + '>'}}}
