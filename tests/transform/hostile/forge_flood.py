# Tries: sends without end after its answer.
# Expected: harmless (also fine: refused, killed, limited).
# expect: {"name": "forge_flood", "category": "errors", "outcome": "harmless", "also": ["refused", "killed", "limited"], "checks": ["within_time", "within_memory", "next_run_same"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'{"log": "", "problems": []}', b'{"data": [], "layout": {}}')
    while True:
        os.write(3, b'x' * 65536)
