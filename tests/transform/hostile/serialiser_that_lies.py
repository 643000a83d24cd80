# Tries: to let the modules that write JSON write something else.
# Expected: an error, or the figure; the next run is the same.
# expect: {"name": "serialiser_that_lies", "category": "isolation", "outcome": "killed", "also": ["refused", "harmless"], "checks": ["next_run_same", "reply_is_figure_or_error"]}
def transform(data, params):
    modules = pd.io.common.os.sys.modules
    for name in ('orjson', 'json'):
        if name in modules:
            modules[name].dumps = lambda *_, **__: b'{"log":"","problems":[],"x":1}'
    return go.Figure()
