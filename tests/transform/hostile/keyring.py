# Tries: keeps bytes in a kernel keyring for the next run.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "keyring", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.syscall(248, b'user', b'x', b'y', 1, -3)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
