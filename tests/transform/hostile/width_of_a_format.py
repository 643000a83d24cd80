# Tries: to fill a text up to two thousand million characters.
# Expected: the memory limit.
# expect: {"name": "width_of_a_format", "category": "limits", "outcome": "limited", "also": ["refused"], "checks": ["next_run_same", "within_memory"]}
def transform(data, params):
    return go.Figure(layout_title=f'{1:>2000000000}')
