"""Requests that nobody thought of: generated from the OpenAPI document, and mutations of recipes that are sound.

No answer is a 5xx, and each is as the document says. ``schemathesis`` makes the requests and all of its checks look at
the answers; that a request which fits its schema is accepted is asked of no body whose parts must also fit together.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, seed, settings
from support.full_organization import World, make
from support.server_in_process import lab
from support.server_on_socket import listening

from server import Settings
from server.openapi import document
from workbench.authoring.examples import NAMES, example

schemathesis = pytest.importorskip("schemathesis")
from schemathesis.generation import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    negative_data_rejection,
    positive_data_acceptance,
)

DOCUMENT = document()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
NAMED = [
    (method, path)
    for path, item in DOCUMENT["paths"].items()
    for method in item
    if "/storage/" not in path and path not in ("/healthz", "/readyz")
]
NEVER_WRONG = (("get", "/session"), ("delete", "/session"), ("get", "/shared/{token}"))
"""Operations without credential, parameter and body: no request of theirs breaks the document."""
CASES, LONG_CASES = 2, 16
"""Requests of an operation, both sound and not."""
MUTATIONS, LONG_MUTATIONS = 200, 5000


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, str, requests.Session]]:
    chosen = Settings(requests_per_second=1e6, burst=10**6, readers=0)
    with lab(tmp_path_factory.mktemp("fuzz"), chosen) as made, requests.Session() as session:
        ours = make(made, made.admin, "OURS")
        with listening(made.app, lifespan="off") as (_, address):
            yield ours, address, session


def ids_for(method: str, path: str, world: World, case: Any, chance: random.Random) -> None:
    """Give most requests ids that lead somewhere; not those that would take away what the others work with."""
    if method.upper() == "DELETE" or path.startswith("/organizations/") or chance.random() < 0.2:
        return
    for name in case.path_parameters or {}:
        if name in world.ids:
            case.path_parameters[name] = world.ids[name]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), NAMED, ids=lambda value: value)
def test_no_request_breaks_the_server(
    world: tuple[World, str, requests.Session], method: str, path: str, mode: Any, long: bool
) -> None:
    if mode is GenerationMode.NEGATIVE and (method, path) in NEVER_WRONG:
        pytest.skip("no request of this operation is wrong by the document")
    ours, address, session = world
    operation = SCHEMA[path][method.upper()]
    chance = random.Random(f"{method} {path}")

    @seed(20)
    @settings(
        max_examples=LONG_CASES if long else CASES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def generated(case: Any) -> None:
        ids_for(method, path, ours, case, chance)
        answer = case.call(base_url=address, session=session, headers=ours.who.headers, allow_redirects=False)
        excluded = [positive_data_acceptance]
        if (
            answer.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        ):  # refused unread, which the check does not know
            excluded.append(negative_data_rejection)
        case.validate_response(answer, excluded_checks=excluded)

    generated()


ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2.5,
        1e308,
        -1e308,
        2**63,
        10**30,
        "",
        " ",
        "$",
        "$$",
        "$x",
        "$cells",
        "id",
        "a" * 201,
    ),
    *([], {}, [None], [[]], {"": 1}, {"from": "cells", "column": "id"}, {"ratio_of": "first", "factor": 1}),
    *(
        "\u0000",
        "\U0001f600",
        "Time [s]",
        "Voltage [V]",
        "measurements",
        "list",
        "2026-01-31T12:00:00Z",
        ["$cells", 1],
    ),
)
SCRIPTS = (
    "def transform(data, params):\n    return 1\n",
    "def transform(data, params):\n    return {'data': [{'type': 'scatter', 'x': [float('nan')], 'y': [1e400]}]}\n",
    "def transform(data, params):\n    raise SystemExit(3)\n",
    "def transform(data):\n    pass\n",
    "def transform(data, params):\n    print('x' * 10**6)\n    return go.Figure()\n",
    "\u00e9 = (",
)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield place
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[key], (*place, key))


def mutated(config: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A recipe with one to three things changed, taken away, added or given another name."""
    made = copy.deepcopy(config)
    for _ in range(chance.choice((1, 1, 2, 3))):
        place = chance.choice([one for one in places(made) if one])
        owner: Any = made
        for key in place[:-1]:
            owner = owner[key]
        what = chance.random()
        if place == ("transform",) and what < 0.9:
            owner["transform"] = chance.choice(SCRIPTS)
        elif what < 0.5:
            owner[place[-1]] = copy.deepcopy(chance.choice(ODD))
        elif what < 0.7 or isinstance(owner, list):
            del owner[place[-1]]
        elif what < 0.85:
            owner[chance.choice(("extra", "", "op", "where", "fields", "caps"))] = copy.deepcopy(
                chance.choice(ODD)
            )
        else:
            owner[f"{place[-1]}_"] = owner.pop(place[-1])
    return made


@pytest.mark.long
def test_no_mutation_of_a_sound_recipe_breaks_the_server(
    world: tuple[World, str, requests.Session], long: bool
) -> None:
    ours, address, session = world
    chance = random.Random(7)
    project, board = "/projects/{project_id}", "/projects/{project_id}/dashboards/{dashboard_id}"
    sound = [example(name)["config"] for name in NAMES]
    seen: Counter[int] = Counter()
    for number in range(LONG_MUTATIONS if long else MUTATIONS):
        config = mutated(chance.choice(sound), chance)
        values = chance.choice(({}, {}, {"limit": chance.choice(ODD)}, {"tests": [ours.ids["measurement_id"]]}))
        path, body = chance.choice(
            (
                (f"{project}/figures", {"config": config, "values": values}),
                (f"{project}/datasets", {"config": config, "values": values}),
                (f"{project}/figures/detail", {"config": config, "traces": [0], "x": [0, 1], "width": 10}),
                (f"{board}/plots", {"name": f"Mutation {number}", "config": config}),
                (f"{board}/authoring-context", {"prompt": "a", "draft": {"name": "a", "config": config}}),
            )
        )
        answer = session.post(address + path.format_map(ours.ids), json=body, headers=ours.who.headers)
        assert answer.status_code in (200, 422), (body, answer.text)
        SCHEMA[path]["POST"].validate_response(answer)
        seen[answer.status_code] += 1
    assert seen[200] > MUTATIONS // 20
    assert seen[422] > MUTATIONS // 3
