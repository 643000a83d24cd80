# Tries: to ignore the timer and stay in one call of C.
# Expected: killed from outside at the end of its time.
# expect: {"name": "ignore_the_alarm_in_c", "category": "limits", "outcome": "limited", "also": [], "checks": ["next_run_same", "within_time"]}
import re
def transform(data, params):
    signal = pd.io.common.os.sys.modules['signal']
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    re.match('(a+)+$', 'a' * 60 + 'b')
