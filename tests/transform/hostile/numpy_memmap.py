# Tries: maps a file with numpy.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "numpy_memmap", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    return go.Figure(layout_title_text=str(bytes(np.memmap('{{CANARY_FILE}}', mode='r'))))
