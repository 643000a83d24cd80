# Tries: puts markup that runs or fetches into every kind of text.
# Expected: harmless (also fine: refused).
# expect: {"name": "markup_runs", "category": "figure", "outcome": "harmless", "also": ["refused"], "checks": ["page_inert"]}
def transform(data, params):
    words = ["</script><script>window.ran=1</script>", "<img src=x onerror=window.ran=1>", "<svg/onload=window.ran=1>",
             "<iframe src='javascript:parent.ran=1'></iframe>", "<b onclick='window.ran=1' onmouseover='window.ran=1'>x</b>",
             "&lt;img src=x onerror=window.ran=1&gt;", "<style>*{background:url(x)}</style>", "<link rel=stylesheet href=x>"]
    table = go.Table(header=dict(values=words), cells=dict(values=[words]))
    figure = go.Figure([go.Scatter(y=[1] * len(words), text=words, hovertemplate=words, name=words[0]), table])
    figure.add_trace(go.Sankey(node=dict(label=words[:2]), link=dict(source=[0], target=[1], value=[1], label=words[:1])))
    menu = dict(buttons=[dict(label=word, method="skip", args=[]) for word in words])
    slider = dict(currentvalue=dict(prefix=words[1]), steps=[dict(label=word, method="skip", args=[]) for word in words])
    texts = [dict(text=word, hovertext=word) for word in words]
    return figure.update_layout(title=words[0], annotations=texts, updatemenus=[menu], sliders=[slider], xaxis_title=words[1])
