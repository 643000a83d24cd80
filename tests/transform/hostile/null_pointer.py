# Tries: reads the address 0.
# Expected: killed (also fine: refused).
# expect: {"name": "null_pointer", "category": "native", "outcome": "killed", "also": ["refused"], "checks": ["server_alive", "next_run_same"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    return go.Figure(layout_title_text=str(ct.string_at(0)))
