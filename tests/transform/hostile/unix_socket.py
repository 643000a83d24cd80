# Tries: connects to a unix socket.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "unix_socket", "category": "network", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_connection"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    s = sys.modules['socket'].socket(1, 1)
    s.connect('{{UNIX}}')
    return go.Figure(layout_title_text=str('sent'))
