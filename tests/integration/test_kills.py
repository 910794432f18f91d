"""A few of the rounds that `scripts/kill` plays."""

from pathlib import Path

import pytest

from tests.support.kills import make_round


@pytest.mark.parametrize("seed", [2, 3])
def test_parties_that_are_killed_at_any_moment_end_with_the_tree_of_plain_id3(
    trusting: Path, tmp_path: Path, seed: int
) -> None:
    make_round(trusting, tmp_path / "parties", seed).play()
