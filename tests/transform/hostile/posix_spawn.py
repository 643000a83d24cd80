# Tries: runs a program by posix_spawn.
# Expected: refused (also fine: killed, limited).
# expect: {"name": "posix_spawn", "category": "processes", "outcome": "refused", "also": ["killed", "limited"], "checks": ["no_new_process", "no_new_file"]}
def transform(data, params):
    os = pd.io.common.os
    return go.Figure(layout_title_text=str(os.posix_spawn('/bin/sh', ['sh', '-c', 'echo x > {{WRITABLE}}/spawned'], {})))
