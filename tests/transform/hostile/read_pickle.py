# Tries: unpickles a command through pandas.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "read_pickle", "category": "evaluation", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_file", "no_new_process"]}
def transform(data, params):
    os = pd.io.common.os
    sys = pd.io.common.os.sys
    raw = b"cos\nsystem\n(S'echo x > {{WRITABLE}}/pickled'\ntR."
    sys.modules['builtins'].__import__ = sys.modules['importlib'].__import__
    real = sys.modules['_pickle'].Unpickler
    class Open(sys.modules['pickle']._Unpickler):
        def find_class(self, module, name):
            return os.system
    rc = Open(sys.modules['io'].BytesIO(raw)).load()
    if rc:
        raise OSError(rc, 'refused')
    return go.Figure(layout_title_text=str(rc))
