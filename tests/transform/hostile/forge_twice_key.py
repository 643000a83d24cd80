# Tries: hides a key behind one of the same name.
# Expected: harmless (also fine: refused).
# expect: {"name": "forge_twice_key", "category": "errors", "outcome": "harmless", "also": ["refused"], "checks": ["no_remote_url"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'{"log": "", "problems": []}', b'{"data": [], "layout": {"images": [{"source": "http://127.0.0.1:{{PORT}}/"}], "images": []}}')
    os._exit(0)
