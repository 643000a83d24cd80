# Tries: makes a memory file, to run or to keep.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "memory_file", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.syscall(319, b'x', 0)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
