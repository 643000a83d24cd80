# Tries: makes a system call under the numbers of another machine.
# Expected: killed (also fine: refused).
# expect: {"name": "other_numbering", "category": "native", "outcome": "killed", "also": ["refused"], "checks": ["no_canary"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    libc.syscall(0x40000000 + 2, b'{{CANARY_FILE}}', 0)
    return go.Figure(layout_title_text=str('done'))
