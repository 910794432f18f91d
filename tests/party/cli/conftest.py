import shutil
from pathlib import Path

import pytest

from tests.support.commands import make_world


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something for most commands to read, to copy."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        make_world()
    return folder


@pytest.fixture
def here(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, a copy of it."""
    monkeypatch.chdir(shutil.copytree(world, tmp_path / "world"))
    return Path.cwd()
