# Tries: sets an alarm that calls it again and again while it draws.
# Expected: limited (also fine: killed).
# expect: {"name": "many_timers", "category": "limits", "outcome": "limited", "also": ["killed"], "checks": ["within_time"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    sys = pd.io.common.os.sys
    signal = sys.modules['signal']
    signal.signal(signal.SIGALRM, lambda *a: None)
    signal.setitimer(signal.ITIMER_REAL, 1e-5, 1e-5)
    while True:
        pass
