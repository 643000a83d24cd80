# Tries: opens hardware counters, to watch others by timing.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "perf_counters", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.syscall(298, (ct.c_ulong * 16)(), 0, -1, -1, 0)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
