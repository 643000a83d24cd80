# Tries: finds a class that runs programs among all classes.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "subclasses", "category": "evaluation", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_process"]}
def transform(data, params):
    sys = pd.io.common.os.sys
    found = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen']
    if not found:
        found = [sys.modules['subprocess'].Popen]
    return go.Figure(layout_title_text=str(found[0](['id']).wait()))
