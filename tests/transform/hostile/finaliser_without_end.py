# Tries: to stay in a finaliser that swallows every error.
# Expected: the time limit, or a figure once it is interrupted.
# expect: {"name": "finaliser_without_end", "category": "limits", "outcome": "limited", "also": ["harmless", "killed", "refused"], "checks": ["next_run_same", "within_time"]}
class A:
    def __del__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


def transform(data, params):
    A()
    return go.Figure()
