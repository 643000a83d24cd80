# Tries: closes the reply and goes on working.
# Expected: killed (also fine: limited).
# expect: {"name": "close_reply", "category": "errors", "outcome": "killed", "also": ["limited"], "checks": ["within_time", "reply_is_figure_or_error"]}
def transform(data, params):
    os = pd.io.common.os
    os.close(3)
    while True:
        pass
