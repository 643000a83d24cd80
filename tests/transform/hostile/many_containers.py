# Tries: returns two million empty lists.
# Expected: refused (also fine: limited, killed).
# expect: {"name": "many_containers", "category": "limits", "outcome": "refused", "also": ["limited", "killed"], "checks": ["within_memory"]}
def transform(data, params):
    return {'data': [{'type': 'bar', 'customdata': [[] for _ in range(2_000_000)]}], 'layout': {}}
