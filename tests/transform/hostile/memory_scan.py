# Tries: goes through all memory for the secret, as far as addresses are known.
# Expected: harmless (also fine: refused, limited, killed).
# expect: {"name": "memory_scan", "category": "environment", "outcome": "harmless", "also": ["refused", "limited", "killed"], "checks": ["no_canary", "title_is:[]"]}
def transform(data, params):
    ct = np.ctypeslib.ctypes
    libc = ct.CDLL(None, use_errno=True)
    libc.syscall.restype = ct.c_long
    sys = pd.io.common.os.sys

    gc = sys.modules.get('gc')
    mark = '{{CANARY_MARK}}'
    found = [str(one)[:200] for one in gc.get_objects() if isinstance(one, (str, bytes)) and mark in str(one)]
    for one in gc.get_objects():
        if isinstance(one, dict):
            found += [str(v)[:200] for v in list(one.values()) if isinstance(v, str) and mark in v and v != mark]
    return go.Figure(layout_title_text=str(found))
