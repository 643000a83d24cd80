# Tries: maps memory that is shared and not counted.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "shared_memory", "category": "native", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    libc.mmap.restype = ct.c_void_p
    rc = libc.mmap(None, ct.c_size_t(2**30), 3, 0x21, -1, ct.c_long(0))
    if rc == ct.c_void_p(-1).value:
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text=str(rc))
