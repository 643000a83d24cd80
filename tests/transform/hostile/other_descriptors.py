# Tries: reads every descriptor there is.
# Expected: harmless (also fine: refused, killed).
# expect: {"name": "other_descriptors", "category": "files", "outcome": "harmless", "also": ["refused", "killed"], "checks": ["no_canary", "title_is:[]"]}
def transform(data, params):
    os = pd.io.common.os

    found = []
    for fd in list(range(3)) + list(range(5, 64)):
        try:
            found.append(os.read(fd, 100))
        except OSError:
            pass
    return go.Figure(layout_title_text=str(found))
