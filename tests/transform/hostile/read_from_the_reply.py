# Tries: to read from the connection on which its answer goes out, for ever.
# Expected: the time limit.
# expect: {"name": "read_from_the_reply", "category": "isolation", "outcome": "limited", "also": ["refused", "killed"], "checks": ["next_run_same", "within_time"]}
def transform(data, params):
    pd.io.common.os.read(3, 10)
    return go.Figure()
