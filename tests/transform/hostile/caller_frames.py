# Tries: climbs the frames of its callers.
# Expected: harmless (also fine: refused, limited, killed).
# expect: {"name": "caller_frames", "category": "evaluation", "outcome": "harmless", "also": ["refused", "limited", "killed"], "checks": ["no_canary", "title_is:[]"]}
def transform(data, params):
    try:
        1 / 0
    except ZeroDivisionError as e:
        f = e.__traceback__.tb_frame
        seen = []
        while f.f_back:
            f = f.f_back
            seen.append(sorted(map(str, f.f_locals)))
        job = f.f_globals
    return go.Figure(layout_title_text=str([k for k in job if '{{CANARY_MARK}}' in str(job[k])]))
