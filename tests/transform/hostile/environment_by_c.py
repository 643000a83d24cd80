# Tries: reads the environment from the C library.
# Expected: harmless (also fine: refused, killed).
# expect: {"name": "environment_by_c", "category": "environment", "outcome": "harmless", "also": ["refused", "killed"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long

    environ = ct.POINTER(ct.c_char_p).in_dll(libc, 'environ')
    found = []
    n = 0
    while environ and environ[n]:
        found.append(environ[n])
        n += 1
    return go.Figure(layout_title_text=str(found))
