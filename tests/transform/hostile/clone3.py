# Tries: makes a process by the newest call.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "clone3", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_process"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.syscall(435, (ct.c_ulong * 11)(), 88)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
