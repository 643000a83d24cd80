# An honest script: it must work under every protection.
# Expected: figure.
# expect: {"name": "honest_time", "category": "honest", "outcome": "figure", "also": [], "checks": ["strict_json", "same_twice", "same_as_unlocked"]}
import datetime, zoneinfo
def transform(data, params):
    d = data['cells']
    at = pd.to_datetime(['2024-03-31T00:30:00Z', '2024-10-27T00:30:00Z']).tz_convert('Europe/Berlin')
    now = datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('America/New_York'))
    return go.Figure(go.Bar(x=[str(t) for t in at], y=[1, 2]), dict(title=now.isoformat() + now.strftime(' %A %d %B')))
