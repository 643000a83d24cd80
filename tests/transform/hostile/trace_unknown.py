# Tries: gives a trace of no kind.
# Expected: refused.
# expect: {"name": "trace_unknown", "category": "figure", "outcome": "refused", "also": [], "checks": ["strict_json"]}
def transform(data, params):
    return {'data': [{'type': '<script>'}], 'layout': {}}
