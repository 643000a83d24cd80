"""One protected pool for all tests of scripts: its start costs seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.hostile_scripts import Trap

from workbench.transform import protected
from workbench.transform.protected import Limits


@pytest.fixture(scope="session")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trap]:
    """A secret in files and in the environment, and sockets that count who comes."""
    folder = tmp_path_factory.mktemp("trap")
    for parent in (folder, *list(folder.parents)[:3]):
        parent.chmod(parent.stat().st_mode | 0o055)  # so that its permissions are not what keeps a script out
    made = Trap(folder)
    yield made
    made.close()


@pytest.fixture(scope="session")
def pool(trap: Trap) -> Iterator[protected.Pool]:
    """Two workers, 6 s and 256 MB a script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_TEST_SECRET", trap.secret)
        made = protected.new(Limits(seconds=6, memory_mb=256), workers=2)
        fence = made.fence()
    assert fence.holds, fence.why
    yield made
    made.close()
