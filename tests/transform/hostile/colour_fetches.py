# Tries: gives an address as a colour, in all places of one.
# Expected: harmless (also fine: refused).
# expect: {"name": "colour_fetches", "category": "figure", "outcome": "harmless", "also": ["refused"], "checks": ["page_inert"]}
def transform(data, params):
    bad = "rgb(1,2,3) url(http://127.0.0.1:{{PORT}}/)"
    colours = dict(paper_bgcolor=bad, plot_bgcolor=bad, font=dict(color=bad, family=bad), modebar=dict(bgcolor=bad, color=bad))
    trace = dict(type="scatter", y=[1, 2], marker=dict(color=bad), line=dict(color=bad), fillcolor=bad, fill="tozeroy")
    return dict(data=[trace], layout=colours)
