# Tries: leaves a System V shared memory segment for the next run.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "message_queue", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.shmget(4711, 4096, 0o1666)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
