# Tries: to return a layout that contains itself.
# Expected: an error about its depth.
# expect: {"name": "layout_in_itself", "category": "figure", "outcome": "refused", "also": ["limited"], "checks": ["next_run_same"]}
def transform(data, params):
    layout = {}
    layout['meta'] = layout
    return {'data': [], 'layout': layout}
