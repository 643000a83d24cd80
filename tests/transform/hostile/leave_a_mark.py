# Tries: leaves a mark in a module and looks for that of an earlier run.
# Expected: harmless (also fine: refused).
# expect: {"name": "leave_a_mark", "category": "isolation", "outcome": "harmless", "also": ["refused"], "checks": ["title_is:None", "same_twice"]}
def transform(data, params):
    was = getattr(pd, 'mark_of_another', None)
    pd.mark_of_another = 'here'
    return go.Figure(layout_title_text=str(was))
