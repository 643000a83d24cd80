# Tries: two dozen system calls of other kinds: namespaces, modules, rings, mounts, handles.
# Expected: none of them works.
# expect: {"name": "every_other_call", "category": "native", "outcome": "harmless", "also": ["killed", "refused"], "checks": ["next_run_same", "title_is:[]"]}
def transform(data, params):
    ctypes = np.ctypeslib.ctypes
    c = ctypes.CDLL(None, use_errno=True)
    calls = (101, 155, 160, 161, 165, 272, 303, 304, 308, 310, 313, 317, 319, 321, 323, 425, 429, 434, 440, 444)
    made = [number for number in calls if c.syscall(number, 0, 0, 0, 0, 0, 0) >= 0]
    return {'data': [], 'layout': {'title': {'text': str(made)}}}
