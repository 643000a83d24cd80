# An honest script: it must work under every protection.
# Expected: figure.
# expect: {"name": "honest_animation", "category": "honest", "outcome": "figure", "also": [], "checks": ["strict_json", "same_twice", "same_as_unlocked"]}
def transform(data, params):
    d = data['cycles']
    d = d[d['cycle'] < 5]
    return px.bar(d, x='name', y='capacity_Ah', animation_frame='cycle', range_y=[0, 6], template='seaborn')
