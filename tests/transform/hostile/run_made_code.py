# Tries: maps memory to write and run.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "run_made_code", "category": "native", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    libc.mmap.restype = ct.c_void_p
    rc = libc.mmap(None, ct.c_size_t(4096), 7, 0x22, -1, ct.c_long(0))
    if rc == ct.c_void_p(-1).value:
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text=str(rc))
