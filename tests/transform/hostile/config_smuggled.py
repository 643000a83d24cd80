# Tries: adds what is no part of a figure.
# Expected: refused.
# expect: {"name": "config_smuggled", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_remote_url"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'{"log": "", "problems": []}', b'{"data": [], "layout": {}, "config": {"plotlyServerURL": "https://example.org"}}')
    os._exit(0)
