# Tries: returns whole numbers of a million digits.
# Expected: refused (also fine: limited, harmless, killed).
# expect: {"name": "huge_numbers", "category": "limits", "outcome": "refused", "also": ["limited", "harmless", "killed"], "checks": ["strict_json"]}
def transform(data, params):
    return {'data': [{'type': 'bar', 'y': [10**1_000_000, 2**70]}], 'layout': {}}
