# Tries: to return a mapping that shows other items than it has.
# Expected: what it has, or an error.
# expect: {"name": "mapping_with_two_faces", "category": "figure", "outcome": "harmless", "also": ["refused"], "checks": ["next_run_same", "no_prototype_key"]}
def transform(data, params):
    class Two(dict):
        def items(self):
            return iter([('data', []), ('__proto__', {'x': 1})])
    
    return Two(data=[], layout={})
