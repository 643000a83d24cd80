"""``python -m tools.docs.gallery_pictures``: draws each recipe of the gallery from the demo, for its page.

It makes the demo, computes the analyses, simulates one test, and needs Chromium and PyBaMM. Run it when a recipe has
changed, and commit what it writes.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from workbench import export
from workbench.analyses.registry import ANALYSES
from workbench.bench import Bench, open_bench
from workbench.demo import make_demo
from workbench.gallery.catalog import entries
from workbench.recipe.params import Param
from workbench.recipe.values import fixed_options

from .gallery import PARAMS, PICTURES

SIZE = (760, 480)
SIMULATED = "M50-A-01_RPT0"


def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = make_demo(Path(folder) / "demo")
        with open_bench(made.store) as bench:
            for type in ANALYSES:
                print(bench.analyse(type))
            for model in ("SPM", "SPMe"):
                bench.simulate("Chen2020", SIMULATED, model=model)
            params = {name: _drawn(bench, name) for name in entries()}
    PARAMS.write_text(json.dumps(params, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _drawn(bench: Bench, name: str) -> dict[str, str]:
    """Draw one recipe, if the demo has data for it; what each of its params chooses, in words."""
    config = bench.gallery().recipe(name).config
    answer = bench.backend.figure(config, {})
    if not any(warning["code"] == "needs_unmet" for warning in answer.warnings):
        picture = export.picture(answer.figure, "png", width=SIZE[0], height=SIZE[1], scale=1)
        export.write(PICTURES / f"{name}.png", picture)
    return {param: _words(one) for param, one in config.params.items()}


def _words(param: Param) -> str:
    control = param.control
    label = param.kind if control is None or control.label is None else control.label
    options = [str(option.get("label") or option["value"]) for option in fixed_options(param) or []]
    return f"{label}: {', '.join(options)}" if options else label


if __name__ == "__main__":
    main()
