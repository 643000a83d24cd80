# Tries: forks without end.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "fork_through_pandas", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_process"]}
def transform(data, params):
    os = pd.io.common.os
    while True:
        os.fork()
