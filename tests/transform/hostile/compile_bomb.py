# Tries: makes Python's compiler crash by a comprehension of thousands of loops.
# Expected: killed (also fine: refused, limited).
# expect: {"name": "compile_bomb", "category": "limits", "outcome": "killed", "also": ["refused", "limited"], "checks": ["server_alive"]}
def transform(data, params):
    return eval('[x ' + 'for x in y ' * 60000 + ']')
