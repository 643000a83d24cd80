# Tries: links with the scheme of a script in several spellings, from every kind of text.
# Expected: harmless (also fine: refused).
# expect: {"name": "links_run", "category": "figure", "outcome": "harmless", "also": ["refused"], "checks": ["page_inert"]}
def transform(data, params):
    forms = ["javascript:window.ran=1", "JaVaScRiPt:window.ran=1", "java&#115;cript:window.ran=1", "java\tscript:window.ran=1",
             "\x01javascript:window.ran=1", "data:text/html,x", "vbscript:x", "%6aavascript:window.ran=1"]
    texts = [f'<a href="{form}" target="_self" popup="a=1">x</a>' for form in forms]
    figure = go.Figure(go.Scatter(y=[1] * len(texts), text=texts, mode="text", name=texts[0]))
    return figure.update_layout(title=texts[1], annotations=[dict(text=text) for text in texts])
