# Tries: to return a text of a class of its own, which writes a remote picture.
# Expected: the text itself, or an error.
# expect: {"name": "text_that_writes_others", "category": "figure", "outcome": "harmless", "also": ["refused"], "checks": ["next_run_same", "no_remote_url", "strict_json"]}
def transform(data, params):
    class Text(str):
        def __str__(self):
            return 'no'
    
        def encode(self, *_):
            return b'{"layout":{"images":[{"source":"//evil.example"}]}}'
    
    return {'data': [], 'layout': {'title': {'text': Text('x')}}}
