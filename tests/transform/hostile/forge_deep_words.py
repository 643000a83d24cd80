# Tries: answers with words a hundred thousand deep.
# Expected: refused (also fine: killed).
# expect: {"name": "forge_deep_words", "category": "errors", "outcome": "refused", "also": ["killed"], "checks": ["server_alive"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'[' * 100000 + b']' * 100000, b'')
    os._exit(0)
