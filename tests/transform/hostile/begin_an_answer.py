# Tries: to send the first bytes of an answer and never the rest.
# Expected: refused in time.
# expect: {"name": "begin_an_answer", "category": "isolation", "outcome": "refused", "also": ["limited", "killed"], "checks": ["next_run_same", "within_time"]}
def transform(data, params):
    pd.io.common.os.write(3, b'\0' * 3)
    while True:
        pass
