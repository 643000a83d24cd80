# Tries: opens by a newer system call.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "openat2", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.syscall(437, -100, b'{{CANARY_FILE}}', (ct.c_ulong * 3)(), 24)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
