# Tries: to add the button that sends a figure away, by a template.
# Expected: an error.
# expect: {"name": "send_by_a_template", "category": "figure", "outcome": "refused", "also": [], "checks": ["next_run_same"]}
def transform(data, params):
    return {'data': [], 'layout': {'template': {'layout': {'modebar': {'add': 'sendDataToCloud'}}}}}
