# Tries: to take off what it put on itself: dumping, other users' rights, time stamps, filters, names.
# Expected: none of it works.
# expect: {"name": "loosen_itself", "category": "native", "outcome": "harmless", "also": ["killed", "refused"], "checks": ["next_run_same", "title_is:[]"]}
def transform(data, params):
    ctypes = np.ctypeslib.ctypes
    c = ctypes.CDLL(None, use_errno=True)
    made = [number for number in (1, 4, 8, 15, 22, 23, 24, 36, 38, 47, 59) if c.prctl(number, 1, 0, 0, 0) >= 0]
    return {'data': [], 'layout': {'title': {'text': str(made)}}}
