# Tries: names it in the data of an author.
# Expected: refused (also fine: harmless).
# expect: {"name": "prototype_deep", "category": "figure", "outcome": "refused", "also": ["harmless"], "checks": ["no_prototype_key"]}
def transform(data, params):
    return {'data': [{'type': 'bar', 'customdata': [{'a': {'__proto__': {'x': 1}}}]}], 'layout': {}}
