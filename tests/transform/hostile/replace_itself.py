# Tries: becomes another program.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "replace_itself", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_process", "no_new_file"]}
def transform(data, params):
    os = pd.io.common.os
    os.execv('/bin/sh', ['sh', '-c', 'echo x > {{WRITABLE}}/became'])
