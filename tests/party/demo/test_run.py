import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Self

import pytest

from party.cli import main as cli
from party.cli.outputs import fraction
from party.demo import run as demo
from party.demo.data import ALICE, BOB, PARTIES, deal_dataset
from party.demo.folders import config_path, held_folder, write_parties
from party.demo.options import DemoError, DemoOptions, PartyFailedError, parse_omegas, parse_ways
from party.demo.processes import PartyProcess, free_port, run_together
from party.demo.run import Reference, Run, compare_all, make_reference, planned
from party.models.any_file import write_model
from party.models.tree_file import read_tree, tree_json
from party.node.inputs import load_inputs
from party.records.run_file import TrainReport
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.show.document import Block, laid_out
from party.show.progress import Display, Step
from party.show.runs import short_tree
from protocols.errors import InputError
from protocols.learning.tree import Leaf, Tree
from protocols.role import Phase, Progress
from protocols.terms import ALL, DEPTH, Method
from tests.party.demo.test_data import BITS, DOTS, FAST, options
from tests.support.examples import few
from tests.support.models import chain, small_model
from tests.support.processes import cotally

FORMATS = Path(__file__).parents[3].joinpath("party", "FORMATS.md").read_text()


@dataclass
class Shown(Display):
    """Takes the place of a terminal."""

    lines: list[str] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)

    def show(self, step: Step) -> None:
        self.phases.append(step.text)

    def finish(self) -> None:
        pass

    def say(self, block: Block) -> None:
        self.lines += [block] if isinstance(block, str) else laid_out([block])


class FakeProcess:
    """Takes the place of a party's process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


Twist = Callable[[str, Tree, TrainReport], tuple[Tree, Tree, TrainReport]]


def faithful(method: str, tree: Tree, report: TrainReport) -> tuple[Tree, Tree, TrainReport]:
    if method == "randomized":
        tree = Tree(tree.schema, Leaf(tree.root.counts, 0))
    return tree, tree, report


def fake_parties(monkeypatch: pytest.MonkeyPatch, out: Path, twist: Twist) -> None:
    """Let every run end with the plain tree, or what the twist makes of it."""

    def fake_run(bob: FakeProcess, alice: FakeProcess, job: str, model: str, on_progress: object) -> TrainReport:
        terms = read_job(alice.folder / job, BITS).terms
        reference = reference_of(out)
        correct = reference.correct(reference.tree)
        counted = reference.computations
        told = TrainReport(
            "5e", terms.method, terms.omega, None, correct, len(reference.test), counted, 1.5, 10, 20, 7, 99, {}
        )
        alices, bobs, told = twist(terms.method, reference.tree, told)
        write_model(alice.folder / model, alices)
        write_model(bob.folder / model, bobs)
        assert callable(on_progress)
        on_progress(Progress(Phase.COUNTS, 1, 2))
        return told

    monkeypatch.setattr(demo, "PartyProcess", FakeProcess)
    monkeypatch.setattr(demo, "run_together", fake_run)


def reference_of(out: Path) -> Reference:
    parties = {p: load_inputs(read_party_config(config_path(out, p), BITS), BITS) for p in PARTIES}
    return make_reference(parties, options(out))


def play(monkeypatch: pytest.MonkeyPatch, asked: DemoOptions, twist: Twist = faithful) -> Shown:
    fake_parties(monkeypatch, asked.out, twist)
    shown = Shown()
    compare_all(asked, shown, shown.say)
    return shown


def test_the_runs_are_planned_in_order(tmp_path: Path) -> None:
    runs = planned(options(tmp_path, omegas=(2, ALL), ways=(DOTS, FAST)))
    dots = ["randomized", "hybrid-2", "hybrid-all", "smc"]
    assert [run.name for run in runs] == [
        *(f"{name}-paillier" for name in dots),
        *(f"{name}-oblivious_transfer" for name in dots),
    ]
    assert runs[1] == Run(DOTS, Method.HYBRID, 2)
    assert runs[-2].label == "hybrid ω=all"


def test_each_way_of_counting_has_rows_a_table_and_bars_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shown = play(monkeypatch, options(out, omegas=(ALL,), ways=(FAST, DOTS)))
    rows = json.loads((out / "run.json").read_text())["rows"]
    assert [row["method"] for row in rows] == ["plain", *["randomized", "hybrid", "smc"] * 2]
    assert [row["counting"] for row in rows] == [None, *["oblivious_transfer"] * 3, *["paillier"] * 3]
    heads = ["Oblivious transfer", "Dot products by Paillier, as in the papers"]
    assert [line for line in shown.lines if line in heads] == heads
    assert [line.split()[0] for line in shown.lines if line.startswith(("plain ", "smc "))] == ["plain", "smc"] * 2
    assert read_job(out / ALICE / "job-hybrid-all-oblivious_transfer.toml", BITS).terms.counting == FAST
    assert read_job(out / ALICE / "job-smc-paillier.toml", BITS).terms.counting == DOTS
    assert (out / "figure.png").read_bytes().startswith(b"\x89PNG")
    drawn = (out / "figure.svg").read_text()
    assert all(words in drawn for words in (*heads, "SMC only", "Seconds of a run", "Megabytes sent by both"))


def test_a_demo_writes_all_rows_and_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = tmp_path / "out"
    monkeypatch.setattr(demo, "write_figures", lambda *_: None)
    shown = play(monkeypatch, options(out))
    content = json.loads((out / "run.json").read_text())
    assert content["format"] == "cotally-run/2"
    for key in (*content, *content["data"], *content["parameters"], *content["rows"][0], *content["rows"][0]["tree"]):
        assert f'"{key}"' in FORMATS
    assert [row["method"] for row in content["rows"]] == ["plain", "randomized", "hybrid", "hybrid", "smc"]
    assert [row["omega"] for row in content["rows"]] == [None, None, 1, None, None]
    assert [row["equals_plain_id3"] for row in content["rows"]] == [True, False, True, True, True]
    reference = reference_of(out)
    assert content["data"] == {"name": "votes", "rows_train": 128, "rows_test": 32, "attributes": 16, "classes": 2}
    leaf = Tree(reference.schema, Leaf(reference.tree.root.counts, 0))
    told = reference.correct(leaf)
    assert told is not None
    assert content["rows"][1]["accuracy"] == told / 32
    assert content["rows"][2]["cost_ratio"] == 1.0
    assert content["rows"][2]["bytes_sent"] == {"alice": 10, "bob": 20}
    assert content["rows"][0]["cost_ratio"] is None
    for party in PARTIES:
        assert tree_json(read_tree(out / party / "model.json")) == tree_json(reference.tree)
        assert (out / party / "model-smc-paillier.json").exists()
    assert "run 2 of 4, hybrid ω=1: counting securely" in shown.phases
    text = "\n".join(shown.lines)
    assert "votes: 128 records to train, 32 to test" in text
    assert f"keys of {BITS} bits, seed 1 of rows and splits (coins are new in every demo, and" in text
    assert "Seconds and bytes do not simply follow it: dot products cost a vector" in text
    assert "Trees by information_gain, of any depth, leaves of 1 or more records (the papers' trees: for your" in text
    assert "hybrid ω=all" in text
    assert f"cotally show {out / ALICE / 'model.json'}" in text
    assert "estimates it from a copy, so its report shows another figure" in text


def test_a_demo_without_test_records_has_no_accuracies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def untested(method: str, tree: Tree, report: TrainReport) -> tuple[Tree, Tree, TrainReport]:
        plain = read_tree(tmp_path / "plain.json")
        computations = report.smc_computations if method == "hybrid" else counted
        return plain, plain, replace(report, correct=None, smc_computations=computations)

    out = tmp_path / "out"
    asked = options(out, test=Fraction(0), ways=(FAST,))
    write_parties(tmp_path / "ready", deal_dataset("votes", 1).drawn(160, 1), asked, 1)
    parties = {p: load_inputs(read_party_config(config_path(tmp_path / "ready", p), BITS), BITS) for p in PARTIES}
    reference = make_reference(parties, asked)
    counted = reference.computations
    write_model(tmp_path / "plain.json", reference.tree)
    monkeypatch.setattr(demo, "write_figures", lambda *_: None)
    play(monkeypatch, asked, untested)
    content = json.loads((out / "run.json").read_text())
    assert content["data"]["rows_test"] == 0
    assert {row["accuracy"] for row in content["rows"]} == {None}


def wrong_count(method: str, tree: Tree, report: TrainReport) -> tuple[Tree, Tree, TrainReport]:
    count = None if report.correct is None else report.correct - 1
    return tree, tree, replace(report, correct=count)


def other_tree(method: str, tree: Tree, report: TrainReport) -> tuple[Tree, Tree, TrainReport]:
    changed = Tree(tree.schema, replace(tree.root, counts=(1.0, 2.0)))
    return changed, changed, report


def two_trees(method: str, tree: Tree, report: TrainReport) -> tuple[Tree, Tree, TrainReport]:
    return tree, Tree(tree.schema, replace(tree.root, counts=(1.0, 2.0))), report


def foreign_tree(method: str, tree: Tree, report: TrainReport) -> tuple[Tree, Tree, TrainReport]:
    return small_model(), small_model(), report


def fewer_counts(method: str, tree: Tree, report: TrainReport) -> tuple[Tree, Tree, TrainReport]:
    return tree, tree, replace(report, smc_computations=report.smc_computations - 1)


@pytest.mark.parametrize(
    ("twist", "problem"),
    [
        (wrong_count, "hybrid-1-paillier: the parties counted .* right predictions, there are"),
        (other_tree, "hybrid-all-paillier: the tree is not that of plain ID3"),
        (two_trees, "randomized-paillier: the two parties ended with different models"),
        (foreign_tree, "a party's model is over other columns"),
        (fewer_counts, "smc-paillier: .* counts, not"),
    ],
)
def test_a_result_that_is_not_what_it_must_be_fails_loudly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, twist: Twist, problem: str
) -> None:
    with pytest.raises(DemoError, match=problem):
        play(monkeypatch, options(tmp_path / "out"), twist)


def test_a_second_demo_leaves_the_folder_of_one_that_runs_as_it_is(tmp_path: Path) -> None:
    shown, out = Shown(), tmp_path / "out"
    for stage in ("begins", "has parties"):
        with held_folder(out):
            if stage == "has parties":
                (out / "run.json").write_text('{"format": "cotally-run/1"}')
                (out / "alice").mkdir()
                (out / "alice" / "data.csv").write_text("id,a\n")
            before = sorted(out.rglob("*"))
            with pytest.raises(InputError, match=r"another `cotally` process is working in .*out: wait"):
                compare_all(options(out), shown, shown.say)
            assert sorted(out.rglob("*")) == before
        assert out.exists() == (stage == "has parties")


def test_a_disguise_that_cannot_work_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    shown = Shown()
    with pytest.raises(InputError, match="theta"):
        compare_all(options(tmp_path / "out", data="tic-tac-toe", theta=Fraction(10**17, 10**18 - 1)), shown, shown.say)
    assert not list(tmp_path.iterdir())


def test_a_demo_goes_on_without_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = play(monkeypatch, options(tmp_path / "out"))
    (line,) = [line for line in shown.lines if line.startswith("No figure: drawing needs matplotlib")]
    assert "pip install '.[figures]'" in line


def test_a_large_tree_is_printed_to_the_level_that_makes_a_page(tmp_path: Path) -> None:
    small = list(short_tree(small_model(), tmp_path / "m.json"))
    assert len(small) == small_model().size + 1
    large = list(short_tree(chain(100), tmp_path / "m.json"))
    assert len(large) <= 41
    assert large[-1] == f"… the first 19 of 100 levels; all of it: cotally show {tmp_path / 'm.json'}"


def test_the_demo_passes_on_a_partys_error_and_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    import party.cli.demo as command

    def fail(*_: object) -> None:
        raise PartyFailedError(BOB, "is gone", 3)

    monkeypatch.setattr(command, "compare_all", fail)
    assert cli.main(["demo", "--progress", "none", "--out", str(tmp_path / "out")]) == 3
    assert capsys.readouterr().err == "cotally: bob: is gone\n"


@pytest.mark.full
def test_a_whole_demo_runs_with_two_processes_and_counts_all_that_it_shows(tmp_path: Path) -> None:
    arguments = [
        "--data", "votes", "--rows", "160", "--theta", "7/10", "--omega", "1,all", "--key-bits", "2048", "--seed",
        "2", "--max-depth", "2",
    ]  # fmt: skip
    ended = cotally("demo", *arguments, "--out", str(tmp_path / "out"), seconds=240)
    assert ended.code == 0, ended.err
    rows = json.loads((tmp_path / "out" / "run.json").read_text())["rows"]
    methods = ["randomized", "hybrid", "hybrid"]
    assert [row["method"] for row in rows] == ["plain", *[*methods, "smc"] * 2]
    assert [row["equals_plain_id3"] for row in (rows[3], rows[4], rows[7], rows[8])] == [True] * 4
    every, smc = rows[3], rows[4]
    assert smc["smc_computations"] == every["smc_computations"] > rows[2]["smc_computations"] > 0
    sent = [row["bytes_sent"]["alice"] + row["bytes_sent"]["bob"] for row in (every, smc)]
    assert 0.9 * sent[0] < sent[1] < sent[0]  # the same vectors, without disguised copies
    assert all(0 < row["cost_ratio"] <= 1 for row in rows if row["method"] in ("hybrid", "smc"))
    assert "hybrid ω=all" in ended.out
    assert "\nrun 1 of 8, randomized: " in ended.err


@pytest.mark.parametrize("noise", few([[], ["--noise", "8"]], 2))
def test_of_files_of_ones_own_a_demo_grows_the_tree_alone_which_is_that_of_plain_id3(
    tmp_path: Path, noise: list[str]
) -> None:
    numbers = range(240)
    rows = {
        "a.csv": [
            "id,a,b,class",
            *(f"{i},{'xy'[i % 2]},{'uv'[i // 2 % 2]},{'ny'[i % 2 ^ (i % 7 == 0)]}" for i in numbers),
        ],
        "b.csv": ["id,c,d", *(f"{i},{'pq'[i // 4 % 2]},{i % 40}" for i in numbers)],
    }
    for name, lines in rows.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    own = ["--alice", str(tmp_path / "a.csv"), "--bob", str(tmp_path / "b.csv"), "--class", "class"]
    ended = cotally("demo", *own, *noise, "--key-bits", "2048", "--out", str(tmp_path / "out"), seconds=240)
    assert ended.code == 0, ended.err
    told = json.loads((tmp_path / "out" / "run.json").read_text())
    assert [row["method"] for row in told["rows"]] == ["plain", "smc"]
    assert noise or told["rows"][1]["equals_plain_id3"]
    assert told["rows"][1]["exact_counts_disclosed"] == told["rows"][1]["smc_computations"] == 0
    assert told["parameters"]["min_leaf"] == (1 if noise else 20)
    assert "exact_counts = false" in (tmp_path / "out" / "bob" / "party.toml").read_text()
    assert not list((tmp_path / "out").glob("figure*"))
    assert "no count did" in " ".join(ended.out.split())


def test_windows_are_read_in_order_and_anything_else_is_refused() -> None:
    for text in ("", "0", "1,,2", "1;2", "-1", "ALL", "65536", "1" * 5000, "²"):
        with pytest.raises(InputError, match="omega must list"):
            parse_omegas(text)
    assert parse_omegas("3, 1,all") == (3, 1, ALL)
    for text in ("", "rsa", "dot_product:paillier", "paillier,,", ","):
        with pytest.raises(
            InputError, match=r"^ways must list ways of counting, such as oblivious_transfer, paillier"
        ) as caught:
            parse_ways(text)
        assert caught.value.field == "ways"
    for text in ("", "0", "65536", "-1", "ANY", "1" * 5000, "²"):
        with pytest.raises(InputError, match="max_depth must be an integer from 1 to"):
            DEPTH.parse(text, "max_depth")
    assert fraction("--theta", "0.45") == Fraction(9, 20)
    with pytest.raises(InputError, match="--theta must be an exact number"):
        fraction("--theta", "1e-1")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two parties with keys that the command accepts, and few records: to copy."""
    root = tmp_path_factory.mktemp("parties")
    asked = options(root, key_bits=2048, key_floor=2048)
    write_parties(root, deal_dataset("votes", 1).taken(range(30)), asked, 1)
    return root


@pytest.fixture
def folders(written: Path, tmp_path: Path) -> Path:
    """The same two parties, at a port of this test's own."""
    root, port = Path(shutil.copytree(written, tmp_path / "parties")), free_port()
    for name in (ALICE, BOB):
        text = (root / name / "party.toml").read_text()
        assert '"127.0.0.1:1"' in text
        (root / name / "party.toml").write_text(text.replace('"127.0.0.1:1"', f'"127.0.0.1:{port}"'))
    return root


def test_what_a_party_fails_on_is_passed_on_with_its_code_and_one_that_dies_ends_the_run_at_once(folders: Path) -> None:
    with PartyProcess(folders / BOB) as bob, PartyProcess(folders / ALICE) as alice:
        with pytest.raises(PartyFailedError) as caught:
            run_together(bob, alice, "absent.toml", "model.json", lambda _: None)
        assert str(caught.value) == f"alice: {folders / ALICE / 'absent.toml'} does not exist: name another file"
        assert caught.value.code == 2
        os.kill(bob.pid, signal.SIGKILL)
        with pytest.raises(PartyFailedError, match=r"\bbob: ended without a word$"):
            run_together(bob, alice, "job.toml", "model.json", lambda _: None)


LAUNCHER = """
import sys, time
from pathlib import Path
from party.demo.processes import PartyProcess
if __name__ == "__main__":
    with PartyProcess(Path(sys.argv[1])) as bob:
        bob.begin("model.json")
        print(bob.pid, flush=True)
        time.sleep(60)
"""


@pytest.mark.full  # by the same leash as that of workers
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_party_does_not_outlive_the_demo(folders: Path, how: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER, folders / BOB], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as launcher:
        assert launcher.stdout is not None
        child = int(launcher.stdout.readline())
        os.kill(child, 0)
        launcher.send_signal(how)
        launcher.wait(20)
    deadline = time.monotonic() + 60
    while is_alive(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    """Tell whether a process runs; one that has ended and that nobody waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False
