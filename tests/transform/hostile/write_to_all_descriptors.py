# Tries: to write to every descriptor that the process might have inherited.
# Expected: a reply that is none, or an error.
# expect: {"name": "write_to_all_descriptors", "category": "isolation", "outcome": "refused", "also": ["killed"], "checks": ["next_run_same", "reply_is_figure_or_error"]}
def transform(data, params):
    os = pd.io.common.os
    for one in range(64):
        try:
            os.write(one, b'\x01' * 64)
        except OSError:
            pass
    return go.Figure()
