# Tries: to write over the data, which the next run has too.
# Expected: its own copy is changed, or the process ends.
# expect: {"name": "write_into_the_data", "category": "isolation", "outcome": "harmless", "also": ["refused", "killed"], "checks": ["next_run_same"]}
def transform(data, params):
    values = np.asarray(data['curves']['a']['voltage_V'])
    np.ctypeslib.ctypes.memset(values.ctypes.data, 0, 64)
    return go.Figure()
