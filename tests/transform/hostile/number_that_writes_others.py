# Tries: to return a number of a class of its own, which writes a key that JavaScript reserves.
# Expected: the number itself, or an error.
# expect: {"name": "number_that_writes_others", "category": "figure", "outcome": "harmless", "also": ["refused"], "checks": ["next_run_same", "no_prototype_key", "strict_json"]}
def transform(data, params):
    class Number(int):
        def __repr__(self):
            return '1, "__proto__": 1e999'
    
        __str__ = __repr__
    
    return {'data': [{'type': 'scatter', 'x': [Number(1)]}], 'layout': {}}
