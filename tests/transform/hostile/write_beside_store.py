# Tries: writes by the C library.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "write_beside_store", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_file"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.open(b'{{WRITABLE}}/dropped', 0o101, 0o666)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
