# An honest script: it must work under every protection.
# Expected: figure.
# expect: {"name": "honest_fit", "category": "honest", "outcome": "figure", "also": [], "checks": ["strict_json", "same_twice", "same_as_unlocked"]}
from scipy import optimize, signal
def transform(data, params):
    d = data['curves']['a']
    p, _ = optimize.curve_fit(lambda x, a, b: a * x + b, d['time_s'], d['voltage_V'])
    smooth = signal.savgol_filter(d['voltage_V'], 11, 2)
    return go.Figure([go.Scatter(y=smooth), go.Scatter(y=np.polyval(p, d['time_s']))], dict(title=f'{p[0]:.4f}'))
