"""Progress of drawing: silent where it is quick, told where it takes a while."""

from pathlib import Path

import numpy as np
import pytest

from party.show.drawing import shown_drawing
from party.survey import read_design
from protocols.simulation.two_party import bulk_draw
from tests.party.survey.files import UNRELATED, write_design


@pytest.mark.parametrize(("seconds", "told"), [(0.01, False), (20.0, True)])
def test_draws_are_told_once_they_take_a_while(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seconds: float, told: bool
) -> None:
    questionnaire = read_design(write_design(tmp_path, UNRELATED))
    now = iter(np.arange(0, 1000 * seconds, seconds).tolist())
    codes = np.zeros((3, len(questionnaire.names)), dtype=np.uint8)
    with shown_drawing(questionnaire, lambda: next(now)) as watch:
        questionnaire.design.randomize(codes, watch(bulk_draw(np.random.default_rng(0), len(codes))))
    text = capsys.readouterr().err
    assert ("drawing coins" in text) is told
    assert ("100%" in text) is told
