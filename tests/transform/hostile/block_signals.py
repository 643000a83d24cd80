# Tries: blocks all signals, then loops.
# Expected: limited (also fine: killed).
# expect: {"name": "block_signals", "category": "limits", "outcome": "limited", "also": ["killed"], "checks": ["within_time"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    libc.sigprocmask(0, (ct.c_ulong * 16)(*[2**64 - 1] * 16), None)
    while True:
        pass
