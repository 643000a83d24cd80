# Tries: handles the signal that asks where it stands by never returning.
# Expected: limited (also fine: killed).
# expect: {"name": "ignore_trace_signal", "category": "limits", "outcome": "limited", "also": ["killed"], "checks": ["within_time"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    signal = sys.modules['signal']
    def stay(*a):
        while True:
            pass
    for n in range(1, 32):
        try:
            signal.signal(n, stay)
        except (OSError, ValueError):
            pass
    stay()
