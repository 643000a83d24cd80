# Tries: opens by a file handle.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "open_by_handle", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.syscall(304, -100, (ct.c_ulong * 8)(8, 1), 0)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
