"""What `align`, `train` and `ledger` print for programs after a run of two processes."""

import json
import re
from pathlib import Path
from typing import Any

from tests.support.processes import cotally_here, make_pair, serving

FORMATS = (Path(__file__).parents[2] / "party" / "FORMATS.md").read_text()
RECORDS = 120


def told(*words: str | Path) -> Any:
    """Return what a command prints for programs."""
    ended = cotally_here(*words, "--json")
    assert ended.code == 0, ended.err
    content = json.loads(ended.out)
    assert f"`{content['format']}`" in FORMATS
    return content


def test_runs_and_what_is_on_record_of_them_are_told_to_programs(trusting: Path, tmp_path: Path) -> None:
    alice = (["a", "class"], [["xyz"[i % 3], "yn"[i % 3 % 2]] for i in range(RECORDS)])
    bob = (["c"], [["rs"[i % 2]] for i in range(RECORDS)])
    pair = make_pair(trusting, tmp_path / "parties", alice, bob)
    job = pair.write_job(method="smc", test="0", min_leaf=5)
    with serving(pair):
        matched = told("align", pair.bob)
        trained = told("train", pair.bob, job)
    assert (matched["here"], matched["both"], matched["named"]) == (RECORDS, RECORDS, True)
    model = Path(trained["model"])
    assert model == pair.bob / "model.json"
    assert trained["exact_counts_disclosed"] > 0
    assert trained["seen"] == {"one_group": None, "two_groups": None, "together": None}  # no copy crosses
    assert trained["read"] is None
    assert trained["pure_leaves"] == {"leaves": 3, "of": 3, "records": RECORDS, "fewest": RECORDS // 3}
    assert (trained["beats_guessing"], trained["only_class"]) == (None, None)
    (dealing,) = told("ledger", "show", pair.bob)["dealings"]
    assert (dealing["peer"], len(dealing["runs"]), len(dealing["learned"]["models"])) == ("alice", 1, 1)
    words = cotally_here("ledger", "show", pair.bob).out
    counts = re.search(r"([\d,]+) exact counts in", words)
    assert counts
    assert int(counts[1].replace(",", "")) in (dealing["told"]["counts"], dealing["learned"]["counts"])
    whole = told("ledger", "verify", pair.bob)
    assert [each["peer"] for each in whole["peers"]] == ["alice"]
    assert len(told("ledger", "export", pair.bob)["entries"]) == whole["entries"]
    (run,) = (each for each in told("status", pair.bob, "--all")["runs"] if each["job"]["kind"] == "train")
    assert run["state"] == "done"
