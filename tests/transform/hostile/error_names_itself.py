# Tries: raises a class with a name of a million characters.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "error_names_itself", "category": "errors", "outcome": "refused", "also": ["killed", "limited"], "checks": ["reply_below:40000"]}
def transform(data, params):
    raise type('E' * 10**6, (Exception,), {})('x')
