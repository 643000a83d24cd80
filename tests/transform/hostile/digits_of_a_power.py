# Tries: to write out three million digits after the limit on digits is lifted.
# Expected: the time limit.
# expect: {"name": "digits_of_a_power", "category": "limits", "outcome": "limited", "also": ["refused"], "checks": ["next_run_same", "within_time"]}
def transform(data, params):
    pd.io.common.os.sys.set_int_max_str_digits(0)
    return go.Figure(layout_title=str(10**3_000_000 // 7)[:5])
