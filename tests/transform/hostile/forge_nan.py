# Tries: answers with what is no strict JSON.
# Expected: refused.
# expect: {"name": "forge_nan", "category": "errors", "outcome": "refused", "also": [], "checks": ["strict_json"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'{"log": "", "problems": []}', b'{"data": [{"y": [NaN, Infinity]}], "layout": {}}')
    os._exit(0)
