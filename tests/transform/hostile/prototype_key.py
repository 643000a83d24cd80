# Tries: names the prototype of all objects.
# Expected: refused (also fine: harmless).
# expect: {"name": "prototype_key", "category": "figure", "outcome": "refused", "also": ["harmless"], "checks": ["no_prototype_key"]}
def transform(data, params):
    return {'data': [], 'layout': {'__proto__': {'polluted': 1}}}
