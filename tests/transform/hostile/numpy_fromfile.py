# Tries: reads a file with numpy.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "numpy_fromfile", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    return go.Figure(layout_title_text=str(np.fromfile('{{STORE}}', dtype='u1').tobytes()))
