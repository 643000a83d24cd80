# An honest script: it must work under every protection.
# Expected: figure.
# expect: {"name": "honest_classes", "category": "honest", "outcome": "figure", "also": [], "checks": ["strict_json", "same_twice", "same_as_unlocked"]}
import dataclasses, fractions, statistics, warnings
def transform(data, params):
    @dataclasses.dataclass
    class Cell:
        name: str
        capacity: float
        def label(self):
            return f'{self.name}: {self.capacity:.2f}'
    cells = [Cell(n, c) for n, c in zip(data['cells']['name'], data['cells']['capacity_Ah'].fillna(1.5))]
    print(cells)
    warnings.warn('a warning')
    mean = statistics.fmean(c.capacity for c in cells)
    return go.Figure(go.Pie(labels=[c.label() for c in cells], values=[c.capacity for c in cells]), dict(title=str(fractions.Fraction(mean).limit_denominator(9))))
