# Tries: gives a text that makes a careless search for styles run for hours.
# Expected: refused (also fine: harmless).
# expect: {"name": "slow_pattern", "category": "figure", "outcome": "refused", "also": ["harmless"], "checks": ["server_alive"]}
def transform(data, params):
    return {'data': [], 'layout': {'title': {'text': 'style ' + '<' * 3_000_000}}}
