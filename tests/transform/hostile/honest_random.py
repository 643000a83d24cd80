# An honest script: it must work under every protection.
# Expected: figure.
# expect: {"name": "honest_random", "category": "honest", "outcome": "figure", "also": [], "checks": ["strict_json", "same_twice", "same_as_unlocked"]}
import random
def transform(data, params):
    x = np.random.normal(size=50)
    y = [random.gauss(0, 1) for _ in range(50)]
    z = np.random.default_rng(3).random((6, 7))
    name = 'Größe'.encode('cp1252').decode('latin-1')
    return go.Figure([go.Scatter(x=x, y=y, name=name), go.Heatmap(z=z), go.Violin(y=x, side='positive')])
