# Tries: changes templates, options and random numbers.
# Expected: harmless (also fine: refused).
# expect: {"name": "patch_time", "category": "isolation", "outcome": "harmless", "also": ["refused"], "checks": ["next_run_same"]}
def transform(data, params):
    import random
    pd.set_option('display.precision', 1)
    random.seed(5)
    random.random = lambda: 0.5
    np.random.seed(7)
    from plotly import io
    io.templates.default = 'plotly_dark'
    return go.Figure()
