# Tries: opens through the C class of files.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "file_io", "category": "files", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_canary"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    return go.Figure(layout_title_text=str(sys.modules['_io'].FileIO('{{STORE}}').readall()))
