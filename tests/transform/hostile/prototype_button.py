# Tries: names it in what a button does.
# Expected: refused (also fine: harmless).
# expect: {"name": "prototype_button", "category": "figure", "outcome": "refused", "also": ["harmless"], "checks": ["no_prototype_key"]}
def transform(data, params):
    return {'data': [], 'layout': {'updatemenus': [{'buttons': [{'method': 'restyle', 'args': ['__proto__.polluted', 1]}]}]}}
