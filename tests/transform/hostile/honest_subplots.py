# An honest script: it must work under every protection.
# Expected: figure.
# expect: {"name": "honest_subplots", "category": "honest", "outcome": "figure", "also": [], "checks": ["strict_json", "same_twice", "same_as_unlocked"]}
from plotly.subplots import make_subplots
def transform(data, params):
    f = make_subplots(rows=2, cols=2, specs=[[{'secondary_y': True}, {'type': 'polar'}], [{'type': 'scene'}, {'type': 'table'}]])
    d = data['curves'].long('cell')
    f.add_trace(go.Scatter(x=d['time_s'], y=d['voltage_V'], mode='markers', marker=dict(color=d['voltage_V'], colorscale='Viridis', showscale=True)), row=1, col=1, secondary_y=True)
    f.add_trace(go.Scatterpolar(r=[1, 2, 3], theta=[0, 90, 180]), row=1, col=2)
    f.add_trace(go.Surface(z=np.outer(np.arange(5), np.arange(6))), row=2, col=1)
    f.add_trace(go.Table(cells=dict(values=[data['cells']['name']])), row=2, col=2)
    f.update_layout(updatemenus=[dict(buttons=[dict(label='log', method='relayout', args=['yaxis.type', 'log'])])])
    return f
