# An honest script: it must work under every protection.
# Expected: figure.
# expect: {"name": "honest_sankey", "category": "honest", "outcome": "figure", "also": [], "checks": ["strict_json", "same_twice", "same_as_unlocked"]}
def transform(data, params):
    return go.Figure([go.Sankey(node=dict(label=['a', 'b', 'c']), link=dict(source=[0, 1], target=[1, 2], value=[3.0, 2.5]))], dict(annotations=[dict(text='<span style="color: rgb(1, 2, 3); font-size: 12px">x</span>')], images=[dict(source='data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVQYV2NgAAIAAAUAAarVyFEAAAAASUVORK5CYII=')]))
