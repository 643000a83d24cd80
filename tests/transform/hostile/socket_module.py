# Tries: takes the socket module out of the loaded ones.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "socket_module", "category": "network", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_connection"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    s = sys.modules['socket'].socket(2, 2)
    s.sendto(b'x', ('127.0.0.1', int('{{PORT}}')))
    return go.Figure(layout_title_text=str('sent'))
