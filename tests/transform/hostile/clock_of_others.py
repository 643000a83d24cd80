# Tries: reads the processor time of another process, which tells who draws and how long.
# Expected: refused.
# expect: {"name": "clock_of_others", "category": "isolation", "outcome": "refused", "also": [], "checks": ["no_canary"]}
def transform(data, params):
    c = np.ctypeslib.ctypes
    libc = c.CDLL(None, use_errno=True)
    time = c.create_string_buffer(16)
    if libc.clock_gettime((~1 << 3) | 2, time):
        raise PermissionError(c.get_errno())
    return go.Figure(layout_title_text=time.raw.hex())
