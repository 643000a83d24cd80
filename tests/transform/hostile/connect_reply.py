# Tries: uses the reply descriptor for another connection.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "connect_reply", "category": "network", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_connection"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    rc = libc.connect(3, b'\x02\x00', 16)
    if not (rc >= 0):
        raise OSError(ct.get_errno(), 'refused')
    return go.Figure(layout_title_text='done ' + str(rc))
