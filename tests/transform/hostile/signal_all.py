# Tries: signals every process by the C library.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "signal_all", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["server_alive"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.kill(-1, 9)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
