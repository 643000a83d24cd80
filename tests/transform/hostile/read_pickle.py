# Tries: unpickles a command.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "read_pickle", "category": "evaluation", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_file", "no_new_process"]}
def transform(data, params):
    os = pd.io.common.os
    sys = pd.io.common.os.sys
    class P:
        def __reduce__(self):
            return os.system, ('echo x > {{WRITABLE}}/pickled',)
    pickle = sys.modules['pickle']
    rc = pickle.loads(pickle.dumps((os.system, 1))[:0] or b"cos\nsystem\n(S'echo x > {{WRITABLE}}/pickled'\ntR.")
    if rc:
        raise OSError(rc)
    return go.Figure(layout_title_text=str(rc))
