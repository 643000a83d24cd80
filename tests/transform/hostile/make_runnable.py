# Tries: makes memory runnable after writing it.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "make_runnable", "category": "native", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    libc.mmap.restype = ct.c_void_p
    rc = libc.mmap(None, ct.c_size_t(4096), 3, 0x22, -1, ct.c_long(0))
    if libc.mprotect(ct.c_void_p(rc), ct.c_size_t(4096), 5):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text=str(rc))
