# Tries: names it inside a dotted key.
# Expected: refused (also fine: harmless).
# expect: {"name": "prototype_dotted", "category": "figure", "outcome": "refused", "also": ["harmless"], "checks": ["no_prototype_key"]}
def transform(data, params):
    return {'data': [], 'layout': {'xaxis.constructor.prototype.polluted': 1}}
