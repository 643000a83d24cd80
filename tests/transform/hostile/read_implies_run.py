# Tries: asks that all readable memory be runnable.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "read_implies_run", "category": "native", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.personality(0x0400000)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
