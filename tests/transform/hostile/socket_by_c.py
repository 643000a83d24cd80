# Tries: opens a socket by the C library.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "socket_by_c", "category": "network", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_connection"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.socket(2, 1, 0)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
