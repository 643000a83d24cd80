# Tries: looks in the C library for the bytes of a call under other numbers, and jumps there.
# Expected: killed (also fine: refused).
# expect: {"name": "jump_to_other_numbering", "category": "native", "outcome": "killed", "also": ["refused"], "checks": ["no_new_process", "server_alive"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    start = ct.cast(libc.getpid, ct.c_void_p).value
    raw = ct.string_at(start, 2**19)
    place = raw.find(b'\xcd\x80')
    if place < 0:
        raise OSError('none there')
    ct.CFUNCTYPE(ct.c_long)(start + place)()
    return go.Figure()
