# Tries: aborts the process.
# Expected: killed (also fine: refused).
# expect: {"name": "abort", "category": "native", "outcome": "killed", "also": ["refused"], "checks": ["server_alive", "next_run_same"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    libc.abort()
    return go.Figure(layout_title_text=str(1))
