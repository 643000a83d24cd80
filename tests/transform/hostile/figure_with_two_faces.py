# Tries: to return a figure whose own methods write a map.
# Expected: the figure itself, or an error.
# expect: {"name": "figure_with_two_faces", "category": "figure", "outcome": "harmless", "also": ["refused"], "checks": ["next_run_same", "no_remote_url"]}
def transform(data, params):
    class Two(go.Figure):
        def to_dict(self):
            return {'data': [{'type': 'scattermapbox'}], 'layout': {'mapbox': {'style': 'http://evil.example'}}}
    
        to_plotly_json = to_dict
    
    return Two()
