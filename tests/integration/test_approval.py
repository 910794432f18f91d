"""A job by hand between processes: it waits over a restart of either side, and is signed by two people."""

import json
import re
from typing import Any

import pytest

from tests.support.processes import (
    QUIET,
    Ended,
    Pair,
    assert_one_error,
    cotally,
    cotally_here,
    finish,
    serving,
    start,
    wait_for,
)


@pytest.fixture
def pair(pair: Pair) -> Pair:
    pair.edit("alice", 'approve = "always"', 'approve = "by hand"')
    pair.edit("alice", "approvals = 1", "approvals = 2")
    return pair


def waiting(pair: Pair) -> list[dict[str, Any]]:
    ended = cotally_here("status", pair.alice, "--json")
    assert ended.code == 0, ended.err
    return [*json.loads(ended.out)["proposals"]]


def kept(pair: Pair) -> dict[str, Any]:
    """Return the job that waits, the last one, as soon as it is on record: the peer hears before that it does."""
    wait_for(lambda: waiting(pair))
    return waiting(pair)[-1]


def signed_for_columns(pair: Pair, *names: str) -> dict[str, Any]:
    """Sign the job that waits again, since it reveals more by Bob's columns: one more than Alice has; return it."""
    wait_for(lambda: any(last.get("other") == "columns" for last in waiting(pair)[-1:]), 60)
    job = waiting(pair)[-1]
    assert [cotally("approve", str(pair.alice), job["run"], "--as", name).code for name in names] == [0] * len(names)
    return job


def decides(pair: Pair, name: str, command: str = "approve") -> Ended:
    return cotally(command, str(pair.alice), kept(pair)["run"], "--as", name)


def test_a_job_by_hand_waits_over_a_restart_of_both_and_runs_when_two_people_have_signed_it(pair: Pair) -> None:
    job, data = pair.write_job(), pair.bob / "data.csv"
    with serving(pair) as alice:
        data.rename(pair.bob / "elsewhere.csv")
        proposed = cotally("propose", str(pair.bob), str(job))
        assert (proposed.code, proposed.out[:24]) == (0, "alice keeps this job for")
        assert [cotally_here("propose", pair.bob, job).code for _ in range(10)] == [0] * 10
        (pair.bob / "elsewhere.csv").rename(data)
        first = kept(pair)
        assert first["job"]["class_name"] == "class"
        assert first["reveals"]["counts"] > 0
        assert "waits for 1 person: `cotally approve" in decides(pair, "Ann").out
        alice.kill()
        _, said = alice.communicate()
        assert re.findall(r"bob proposes job.*?(?: \((.*)\))?$", said, re.MULTILINE) == ["", "asked 10 times"]
    with serving(pair):
        caller = start(*pair.train_arguments(job, *QUIET))
        assert caller.stderr is not None
        assert any("decide about this job by hand" in line for line in caller.stderr)
        assert_one_error(decides(pair, "ANN"), 2, "Ann has approved job", "another person signs next")
        caller.terminate()
        assert finish(caller).code == 143
        (asked,) = json.loads(cotally_here("status", pair.bob, "--json").out)["runs"]
        assert (asked["state"], asked["peer"]) == ("waiting", "alice")
    with serving(pair) as alice:
        caller = start(*pair.train_arguments(job, *QUIET))
        assert caller.stderr is not None
        assert any("asking again until then" in line for line in caller.stderr)
        assert "approved: it runs" in decides(pair, "Ben").out
        assert signed_for_columns(pair, "Ann", "Ben")["reveals"]["counts"] > first["reveals"]["counts"]
        assert finish(caller, 120).code == 0
        alice.terminate()
        assert finish(alice).code == 0
    assert (pair.alice / "model.json").read_bytes() == (pair.bob / "model.json").read_bytes()
    assert waiting(pair) == []
    assert cotally_here("ledger", "verify", pair.alice).code == 0
    shown = cotally_here("ledger", "show", pair.alice).out
    page = pair.folder / "page.md"
    assert cotally_here("report", pair.alice, "-o", page).code == 0
    for text in (shown, page.read_text()):
        assert f"Job {first['run']} of bob" in text
        assert "approved by Ben" in text


def test_a_refusal_reaches_the_caller_as_one_line_and_a_job_without_a_table_names_its_least_leaf(pair: Pair) -> None:
    """And a node that serves once ends after a proposal, whatever becomes of it, and says what that is."""
    job = pair.write_job(reveal="tree", method="smc", max_depth=2, min_leaf=None)
    (pair.bob / "data.csv").unlink()
    assert_one_error(cotally_here("propose", pair.bob, job), 2, "min_leaf", "--records")

    def propose(*more: str) -> tuple[Ended, str]:
        with serving(pair, "--once") as alice:
            told = cotally_here("propose", pair.bob, job, "--records", "958", *more)
            ended = finish(alice)
        assert ended.code == 5, ended.err
        return told, ended.err.splitlines()[-1]

    told, said = propose("--json")
    assert json.loads(told.out) == {"format": "cotally-proposed/1", "peer": "alice", "waits": True}
    assert "which waits for 2 people here to approve it" in said
    assert "refused: it does not run" in decides(pair, "Carl since it is Ann's", "refuse").out
    refused, said = propose()
    assert_one_error(refused, 5, "people at the peer have refused this job")
    assert "Carl" not in refused.err
    assert "was refused here" in said
    pair.edit("alice", 'approve = "by hand"', 'approve = "always"')
    allowed, said = propose()
    assert allowed.out.startswith("alice takes part in this job")
    assert "it runs when the peer calls to run it" in said
    assert_one_error(cotally_here("approve", pair.alice, "0" * 16, "--as", "Ann"), 2, "no job of the name")


def test_a_job_waits_again_where_the_session_reads_another_table_than_people_approved(pair: Pair) -> None:
    pair.edit("alice", "approvals = 2", "approvals = 1")
    job, ours, theirs = pair.write_job(), pair.alice / "data.csv", pair.bob / "data.csv"
    before = ours.read_text()
    theirs.write_text("".join(theirs.read_text().splitlines(keepends=True)[:-1]))
    with serving(pair):
        assert cotally_here("propose", pair.bob, job).code == 0
        approved = kept(pair)
        decides(pair, "Ann")
        lines = before.splitlines(keepends=True)
        values = [line.split(",", 1) for line in lines[1:]]
        ids, rest = [each[0] for each in values], [each[1] for each in values]
        ours.write_text(lines[0] + "".join(map(",".join, zip(ids, rest[1:] + rest[:1], strict=True))))
        caller = start(*pair.train_arguments(job, *QUIET))
        assert caller.stderr is not None
        assert any("decide about this job by hand" in line for line in caller.stderr)
        other = kept(pair)
        assert other["run"] != approved["run"]
        ours.write_text(before)
        signed_for_columns(pair, "Ann")
        assert finish(caller, 120).code == 0  # the control: over the table that was approved it runs
    assert [each["run"] for each in waiting(pair)] == [other["run"]]
