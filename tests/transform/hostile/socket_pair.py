# Tries: makes a pair of sockets, to pass descriptors through.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "socket_pair", "category": "network", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    return go.Figure(layout_title_text=str(sys.modules['socket'].socketpair()))
