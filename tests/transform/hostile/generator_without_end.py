# Tries: to return a generator that never ends as data.
# Expected: an error that names it.
# expect: {"name": "generator_without_end", "category": "limits", "outcome": "refused", "also": ["limited"], "checks": ["next_run_same"]}
def transform(data, params):
    def numbers():
        while True:
            yield 1
    
    return {'data': [{'type': 'scatter', 'x': numbers()}], 'layout': {}}
