# Tries: loads a module from a file, past the list of modules.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "load_module", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary", "store_unchanged"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    found = sys.modules['importlib._bootstrap_external'].SourceFileLoader('x', '{{CANARY_FILE}}')
    return go.Figure(layout_title_text=str(found.get_data('{{CANARY_FILE}}')))
