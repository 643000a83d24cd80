# The project's commands; continuous integration runs the same ones (see .ci/run).

python := ".venv/bin/python"

# A virtual environment with everything a developer needs
setup:
    python3 -m venv .venv
    .venv/bin/pip install -q -U pip
    .venv/bin/pip install -q -e . --group dev --group docs

test *args:
    .venv/bin/pytest -n 2 {{args}}

lint:
    .venv/bin/ruff format --check .
    .venv/bin/ruff check .
    .venv/bin/mypy
    {{python}} -m tools.other_systems
    .venv/bin/lint-imports

format:
    .venv/bin/ruff format .
    .venv/bin/ruff check --fix .

# Write what is generated from the code: the recipe's JSON Schema and the reference pages
schema:
    {{python}} -m tools.docs

# The documentation site, in build/docs; every warning is an error
docs:
    .venv/bin/sphinx-build -q -W --keep-going -b html -c docs . build/docs

# The locks of the server image, from pyproject.toml
lock:
    .venv/bin/pip install -q uv
    {{python}} -m tools.lock_file

# Versions with known holes: what is allowed, locked and installed
audit:
    {{python}} -m tools.audit

# The bill of materials of the server image, in build/server.cdx.json
bill:
    {{python}} -m tools.bill_of_materials

# The pictures of docs/how-to/recipes-by-example.md, from the demo's store
pictures:
    for name in curves groups life; do .venv/bin/workbench run docs/recipes/$name.json --store workbench-demo/workbench.db -o docs/images/$name.png; done

demo:
    .venv/bin/workbench demo --no-serve

bench *args:
    {{python}} -m benchmarks {{args}}

sample-data:
    {{python}} sample_data/make.py
