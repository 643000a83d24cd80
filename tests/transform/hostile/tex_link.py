# Tries: links to a program from a formula.
# Expected: refused.
# expect: {"name": "tex_link", "category": "figure", "outcome": "refused", "also": [], "checks": ["no_canary"]}
def transform(data, params):
    return go.Figure(layout_title_text='$\\href{javascript:window.pwned=1}{x}$')
