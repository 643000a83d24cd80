# Tries: answers with a log of a million bytes.
# Expected: harmless (also fine: refused).
# expect: {"name": "forge_log", "category": "errors", "outcome": "harmless", "also": ["refused"], "checks": ["reply_below:70000"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'{"log": "' + b'x' * 1000000 + b'", "problems": []}', b'{"data": [], "layout": {}}')
    os._exit(0)
