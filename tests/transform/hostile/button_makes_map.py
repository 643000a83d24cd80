# Tries: lets a button turn a line into a map, whose picture is elsewhere.
# Expected: refused.
# expect: {"name": "button_makes_map", "category": "figure", "outcome": "refused", "also": [], "checks": ["strict_json"]}
def transform(data, params):
    return {'data': [{'type': 'scatter', 'y': [1]}], 'layout': {'updatemenus': [{'buttons': [{'method': 'restyle', 'args': ['type', 'scattermap']}]}]}}
