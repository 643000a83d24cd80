# Tries: answers one byte at a time, for ever.
# Expected: limited (also fine: killed).
# expect: {"name": "forge_drip", "category": "errors", "outcome": "limited", "also": ["killed"], "checks": ["within_time"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    import time
    os.write(3, struct.pack('<4sIQ', b'WBA1', 100000, 0))
    while True:
        try:
            os.write(3, b' ')
            time.sleep(0.01)
        except BaseException:
            pass
