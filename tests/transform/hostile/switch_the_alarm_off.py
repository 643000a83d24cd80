# Tries: to switch off the timer that raises an error in it.
# Expected: killed from outside at the end of its time.
# expect: {"name": "switch_the_alarm_off", "category": "limits", "outcome": "limited", "also": [], "checks": ["next_run_same", "within_time"]}
def transform(data, params):
    signal = pd.io.common.os.sys.modules['signal']
    signal.setitimer(signal.ITIMER_REAL, 0)
    while True:
        pass
