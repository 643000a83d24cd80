# Tries: loads a program into the kernel.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "load_bpf", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.syscall(321, 5, (ct.c_ulong * 20)(), 120)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
