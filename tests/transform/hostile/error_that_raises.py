# Tries: to raise an error whose text raises the end of the process.
# Expected: the process ends, or an error.
# expect: {"name": "error_that_raises", "category": "errors", "outcome": "killed", "also": ["refused"], "checks": ["next_run_same"]}
class Odd(Exception):
    def __str__(self):
        raise SystemExit

    __repr__ = __str__


def transform(data, params):
    raise Odd
