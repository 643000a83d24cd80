# Tries: sends an answer and lets the real one follow.
# Expected: harmless (also fine: refused).
# expect: {"name": "forge_two", "category": "errors", "outcome": "harmless", "also": ["refused"], "checks": ["next_run_same", "title_is:first"]}
def transform(data, params):
    os = pd.io.common.os
    import struct, json
    def answer(text, figure, a=None, b=None):
        os.write(3, struct.pack('<4sIQ', b'WBA1', len(text) if a is None else a, len(figure) if b is None else b))
        for part in (text, figure):
            while part:
                part = part[os.write(3, part):]
    answer(b'{"log": "", "problems": []}', b'{"data": [], "layout": {"title": {"text": "first"}}}')
    return go.Figure(layout_title_text='second')
