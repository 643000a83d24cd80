# Tries: sets up a ring whose kernel threads would do what this process may not.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "io_uring", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.syscall(425, 8, (ct.c_ubyte * 120)())
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
