# Tries: announces a reply of 2**63 bytes.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "forge_length", "category": "errors", "outcome": "refused", "also": ["killed", "limited"], "checks": ["reply_is_figure_or_error", "within_memory", "server_alive"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'{"log": "", "problems": []}', b'', 100, 2**63)
    os._exit(0)
