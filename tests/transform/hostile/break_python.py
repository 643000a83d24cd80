# Tries: makes True a lie for all.
# Expected: harmless (also fine: refused, killed, limited).
# expect: {"name": "break_python", "category": "native", "outcome": "harmless", "also": ["refused", "killed", "limited"], "checks": ["next_run_same"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    ct.c_ssize_t.from_address(id(True) + 24).value = 0
    return go.Figure(layout_title_text=str('done'))
