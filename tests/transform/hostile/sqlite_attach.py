# Tries: opens the store as a database.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "sqlite_attach", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary", "store_unchanged"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    import_ = sys.modules['builtins'].__import__
    return go.Figure(layout_title_text=str(import_('sqlite3').connect('{{STORE}}').execute('select * from sqlite_master').fetchall()))
