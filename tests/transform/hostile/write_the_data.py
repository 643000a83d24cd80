# Tries: writes into the memory of the dataset itself.
# Expected: killed (also fine: refused, harmless).
# expect: {"name": "write_the_data", "category": "isolation", "outcome": "killed", "also": ["refused", "harmless"], "checks": ["next_run_same"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    d = data['rows']
    frame = data['curves']
    steps = data._steps
    values = steps['rows']['value'].values
    address = values.__array_interface__['data'][0]
    ct.memmove(address, b'\xff' * 8, 8)
    return go.Figure(layout_title_text=str(values[0]))
