"""A small model's file."""

from pathlib import Path

import pytest

from party.models.any_file import write_model
from tests.support.models import small_model


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_model(tmp_path / "model.json", small_model())
    return tmp_path / "model.json"
