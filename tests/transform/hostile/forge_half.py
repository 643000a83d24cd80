# Tries: answers half, then waits.
# Expected: limited (also fine: killed).
# expect: {"name": "forge_half", "category": "errors", "outcome": "limited", "also": ["killed"], "checks": ["within_time", "reply_is_figure_or_error"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'{"log": "", "problems": []}', b'{', None, 5000)
    while True:
        pass
