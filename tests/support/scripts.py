"""The modules of scripts, as a script finds those of its own folder."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType


@contextmanager
def imported(folder: Path, name: str) -> Iterator[ModuleType]:
    """Yield a module of a folder that is on the path meanwhile, as that of a script is."""
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
