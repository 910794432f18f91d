"""The true table, or another design's copy, in place of a disguised one: refused where it can be seen."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from party.errors import DataError
from party.survey import disguise_table, load_survey, read_design, read_disguised
from party.survey.signal import check_origin
from protocols.simulation.two_party import bulk_draw
from tests.party.survey.files import RELATED, UNRELATED, rows, swap, write_design, write_rows

RECORDS = 3_000


@pytest.mark.parametrize("theta", ["1/20", "19/20"])
def test_a_copy_of_quite_another_theta_is_refused(tmp_path: Path, theta: str) -> None:
    """At theta 1/20 nearly all smokers and nobody else say no: by the design's 4/5 fewer than none would smoke."""
    made = read_design(write_design(tmp_path, swap(RELATED, 'theta = "4/5"', f'theta = "{theta}"'), "made.toml"))
    believed = read_design(write_design(tmp_path))
    codes = np.zeros((RECORDS, len(made.names)), dtype=np.uint8)
    sent = made.design.randomize(codes, bulk_draw(np.random.default_rng(1), RECORDS))
    check_origin(sent, made)
    with pytest.raises(
        DataError,
        match="cannot produce: check that the table is the disguised one and the design the one used to make it",
    ):
        check_origin(sent, believed)
    each = zip(made.names, made.values, sent.T.tolist(), strict=True)
    cells = {name: [values[code] for code in codes] for name, values, codes in each}
    with pytest.raises(DataError, match="cannot produce"):
        read_disguised(pd.DataFrame(cells), believed)


def test_a_table_of_plain_or_disguised_numbers_is_read(tmp_path: Path) -> None:
    questionnaire = read_design(write_design(tmp_path))
    data = write_rows(tmp_path, rows(30))
    with pytest.raises(DataError, match="plain numbers, and disguised answers are bins: is this the true table"):
        load_survey(data, questionnaire)
    questionnaire = read_design(write_design(tmp_path))
    data = write_rows(tmp_path, rows(RECORDS))
    disguise_table(data, questionnaire, tmp_path / "secret").write(tmp_path / "d.csv")
    assert len(read_disguised(tmp_path / "d.csv", questionnaire)) == RECORDS
    # 500 copies of few and of equal records: a false alarm would come once in 10^9 values.
    for text in (RELATED, UNRELATED):
        questionnaire = read_design(write_design(tmp_path, text))
        generator = np.random.default_rng(2)
        for records in (1, 2, 5, 30, 1_000):
            for _ in range(100):
                codes = np.tile(generator.integers(0, questionnaire.design.sizes), (records, 1)).astype(np.uint8)
                check_origin(questionnaire.design.randomize(codes, bulk_draw(generator, records)), questionnaire)
