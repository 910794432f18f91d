"""Folders that released versions have written go on with one command, and nothing that they forbid is allowed then.

`kept` holds what each release wrote when its own commands ran: two parties that aligned, trained (with noise,
too), predicted together and were cut off, and a survey, open and closed. Their keys guard nothing.
"""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from party.files import locked_folder
from party.keys.keystore import load_secret
from party.models.any_file import read_model
from party.node.upgrades import changes, copies_of, upgrade
from party.records.alignments import past_alignments
from party.records.journal import RunState, recorded_runs
from party.records.ledger import LEDGER, Ledger, read_ledger
from party.records.ledger_entries import PredictionEntry
from party.records.releases import released, spent_of
from party.records.tally import Revealed, dealings
from party.settings.collector import read_collector_settings
from party.settings.party import read_party_config
from party.survey.web.databases import open_store
from party.survey.web.description import survey_digest
from party.survey.web.store import Reception
from protocols.facts import Way
from tests.support.processes import QUIET, Pair, cotally_here, finish, start

KEPT = Path(__file__).parents[1] / "records" / "kept"
PARTIES = [("0.1.0", "alice"), ("0.1.0", "bob"), ("0.2.0", "alice"), ("0.2.0", "bob")]
FOLDERS = [*PARTIES, ("0.2.0", "open"), ("0.2.0", "closed")]


def unpacked(release: str, folder: Path) -> Path:
    with tarfile.open(KEPT / f"{release}.tar.xz") as archive:
        archive.extractall(folder, filter="fully_trusted")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Return all files but those that SQLite keeps beside one that is open."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal")))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@contextlib.contextmanager
def ledger_of(folder: Path, version: int = LEDGER.version) -> Iterator[Ledger]:
    with read_ledger(folder, load_secret(folder), version) as ledger:
        yield ledger


@pytest.mark.parametrize(("release", "name"), FOLDERS)
def test_the_folder_of_a_release_goes_on_with_one_command(tmp_path: Path, release: str, name: str) -> None:
    folder = unpacked(release, tmp_path) / name
    before = files(folder)
    use = ("survey", "status", folder / "survey.toml") if name in ("open", "closed") else ("check", folder)
    refused = cotally_here(*use)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "run `cotally upgrade" in refused.err

    shown = cotally_here("upgrade", folder, "--dry-run")
    assert (shown.code, files(folder)) == (0, before)
    ended = cotally_here("upgrade", folder, "--json")
    assert ended.code == 0, ended.err
    told = json.loads(ended.out)
    changed = {each["file"] for each in told["changes"]}
    assert all(file in shown.out for file in changed)
    after = files(folder)
    copies = copies_of(folder)
    assert {file for file in before if after.get(file) != before[file]} == changed
    gone = {file for file in changed if file == "curve.key" or file.endswith(".store")}  # secrets without a use
    kept = changed - {"journal.sqlite", "answers.sqlite"} - gone  # the first two hold what shall be gone one day
    assert {file: before[file] for file in kept} == (files(copies) if kept else {})

    assert not {"curve.key", "releases.json"} & after.keys()
    again = cotally_here("upgrade", folder)
    assert (again.code, again.out) == (0, f"{folder} is of this release already: nothing to do\n")
    assert files(folder) == after
    assert cotally_here(*use).code == 0


def test_an_upgrade_says_what_it_did_only_when_it_is_done_and_copies_are_on_the_disk_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = unpacked("0.2.0", tmp_path) / "alice"
    copies, before, synced = copies_of(folder), files(folder), set[str]()
    copies.write_text("in the way")
    ended = cotally_here("upgrade", folder)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    copies.unlink()
    assert files(folder) == before

    tried = cotally_here("upgrade", folder, "--dry-run", "--json")
    assert (json.loads(tried.out)["copies"], copies.exists()) == (None, False)
    *_, said = cotally_here("upgrade", folder, "--dry-run").out.splitlines()
    sync = os.fsync

    def noting(handle: int) -> None:
        synced.add(Path(f"/proc/self/fd/{handle}").readlink().name)
        sync(handle)

    monkeypatch.setattr(os, "fsync", noting)
    with contextlib.closing(sqlite3.connect(folder / "ledger.sqlite")) as other:
        other.execute("SELECT * FROM sqlite_master").fetchall()  # so that the ledger has a log beside it
        ended = cotally_here("upgrade", folder)
    kept = files(copies)
    assert {copies.name, ".ledger.sqlite-wal", *(f".{file}" for file in kept)} <= synced
    assert "would" not in ended.out
    for text in (said, ended.out.splitlines()[-1]):
        assert set(text.rpartition(": ")[2].split(", ")) == {*kept}


def test_an_upgrade_follows_no_link_and_keeps_an_earlier_copy_beside_the_new_one(tmp_path: Path) -> None:
    folder, outside = unpacked("0.3.0", tmp_path) / "alice", tmp_path / "outside"
    copies, job, old = copies_of(folder), folder / "\x1b[31m\nold.toml", 'class = "class"\nprune = "1/5"\n'
    job.write_text(old)
    outside.mkdir()
    (outside / "file").write_text("precious")
    for link, target in ((copies, outside), (copies / f".{job.name}", outside / "file")):
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(target)
        before, ended = files(tmp_path), cotally_here("upgrade", folder)
        assert (ended.code, ended.out) == (2, "")
        assert "is a link, or holds one: move it away" in ended.err
        assert files(tmp_path) == before
        link.unlink()
    (copies / job.name).write_text("EARLIER")
    ended = cotally_here("upgrade", folder)
    assert ended.code == 0, ended.err
    assert r"\x1b[31m\nold.toml" in ended.out
    assert "\x1b" not in ended.out
    assert sorted(each.read_text() for each in copies.iterdir()) == ["EARLIER", old]
    assert "prune" in job.read_text()


@pytest.mark.parametrize("name", ["alice", "bob", "open"])
def test_the_folder_of_0_3_0_is_used_as_it_is(tmp_path: Path, name: str) -> None:
    folder = unpacked("0.3.0", tmp_path) / name
    before = files(folder)
    assert cotally_here("upgrade", folder).out == f"{folder} is of this release already: nothing to do\n"
    of_party = [("check", folder), ("status", folder), ("ledger", "verify", folder), ("show", folder / "model.json")]
    for use in [("survey", "status", folder / "survey.toml")] if name == "open" else of_party:
        ended = cotally_here(*use)
        assert ended.code == 0, ended.err
    assert files(folder) == before


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_a_ledger_of_0_2_0_keeps_every_entry_and_its_digest(tmp_path: Path, name: str) -> None:
    folder = unpacked("0.2.0", tmp_path) / name
    with ledger_of(folder, 2) as ledger:
        before = [(entry.number, entry.content, entry.digest) for entry in ledger.entries()]
    assert cotally_here("upgrade", folder).code == 0
    with ledger_of(folder) as ledger:
        entries = list(ledger.entries())
    after = [(entry.number, entry.content, entry.digest) for entry in entries]
    assert after[: len(before)] == before
    added = [content["kind"] for _, content, _ in after[len(before) :]]
    assert sorted(set(added)) == ["itemsets", "release"]
    assert {each.dataset: each.revealed for each in dealings(entries)} == {
        "data": Revealed(tables=18, classes=2, accuracy=1, sets=6),  # sets: what the tree was pruned by
        "noisy": Revealed(tables=14, classes=2, accuracy=1),
    }
    assert len(past_alignments(entries, "data")) == 1
    answers = [entry.noted for entry in entries if isinstance(entry.noted, PredictionEntry)]
    assert [(said.way, len(said.people)) for said in answers] == [(Way.LEARNED if name == "alice" else Way.TOLD, 10)]
    known = released(entries)
    assert (known["data"]["disguise"], known["data"]["prune"]) == ("contrast", "1/4")
    assert "disguise" not in known["noisy"]  # of which no copy left
    assert list(spent_of(known["noisy"]).values()) == ["1"]
    states = [run.state for run in recorded_runs(folder, load_secret(folder))]
    assert states == [RunState.DONE, RunState.DONE, RunState.CANCELLED]


def job(folder: Path, **terms: object) -> Path:
    path = folder / "new.toml"
    every = {"class": "outcome", "test": "1/4", **terms}
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in every.items()))
    return path


def on_noisy(text: str) -> str:
    text = text.replace('file = "data.csv"', 'file = "noisy.csv"').replace(
        '# dataset = "visits-2026"', 'dataset = "noisy"'
    )
    return text.replace('epsilon = "any"', 'epsilon = "2"').replace("min_leaf = 5", "min_leaf = 1")


def allowing(text: str, **agree: str) -> str:
    for key, value in {"exact_counts": "true", **agree}.items():
        text = re.sub(rf"(?m)^{key} = \S+", "", text).replace("[agree]", f"[agree]\n{key} = {value}")
    return text


FORBIDDEN: dict[str, tuple[str, Callable[[str], str], dict[str, object], str]] = {
    "another split, as trees were pruned": ("0.2.0", allowing, {"reveal": "counts"}, "with prune 1/4 before"),
    "a tree alone, too": ("0.2.0", allowing, {}, "with prune 1/4 before"),
    "one run more than most_runs": (
        "0.2.0", lambda text: allowing(on_noisy(text), epsilon='"any"', most_runs="1"), {"reveal": "counts"},
        "our [agree] most_runs allows 1 over the life of a data set: 1 on other terms",
    ),
    "the copy of 0.1 in another disguise": (
        "0.1.0", lambda text: allowing(text, most_runs='"any"'),
        {"method": "hybrid", "reveal": "counts", "theta": "3/5"}, "with other disguise before",
    ),
    "a second run where 0.1 listed none": ("0.1.0", allowing, {"reveal": "counts"}, "0.1 revealed exact counts of"),
    "another class": (
        "0.1.0", lambda text: allowing(text, most_runs='"any"'), {"reveal": "counts", "class": "owns"},
        "with class outcome before",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_an_older_ledger_forbids_stays_forbidden(tmp_path: Path, what: str) -> None:
    release, agree, terms, text = FORBIDDEN[what]
    folder = unpacked(release, tmp_path) / "alice"
    assert cotally_here("upgrade", folder).code == 0
    settings = folder / "party.toml"
    settings.write_text(agree(settings.read_text()))
    ended = cotally_here("check", folder, job(folder, **terms))
    assert (ended.code, text in ended.err) == (2, True), ended.err


def test_what_0_1_did_not_list_is_allowed_where_no_number_bounds_it(tmp_path: Path) -> None:
    folder = unpacked("0.1.0", tmp_path) / "alice"
    assert cotally_here("upgrade", folder).code == 0
    settings = folder / "party.toml"
    settings.write_text(allowing(settings.read_text(), most_runs='"any"'))
    assert cotally_here("check", folder, job(folder, reveal="counts")).code == 0
    settings.write_text(settings.read_text().replace("[agree]", '[agree]\nepsilon = "3"'))
    with ledger_of(folder) as ledger:
        known = released(ledger.entries())["data"]
    assert known["party"] == ["bob", read_peer(folder)]
    assert spent_of(known) == {"exact": ""}  # which no epsilon bounds
    assert "cotally 0.1 revealed exact counts, and listed none" in cotally_here("ledger", "show", folder).out


def read_peer(folder: Path) -> str:
    shown = cotally_here("trust", folder, folder / "peers" / "bob.pem", "--json")
    return str(json.loads(shown.out)["fingerprint"])


def test_two_upgraded_parties_meet_and_keep_to_the_budget_that_0_2_0_has_spent(tmp_path: Path) -> None:
    pair = Pair(unpacked("0.2.0", tmp_path))
    for folder in (pair.alice, pair.bob):
        assert cotally_here("upgrade", folder).code == 0
        assert cotally_here("keys", "renew", folder).code == 0  # for tests of later years
    shutil.copy(pair.alice / "cert.pem", pair.bob / "peers" / "alice.pem")
    shutil.copy(pair.bob / "cert.pem", pair.alice / "peers" / "bob.pem")
    for folder in (pair.alice, pair.bob):
        settings = folder / "party.toml"
        settings.write_text(on_noisy(settings.read_text()).replace("workers = 0", "workers = 1"))
    pair.edit("bob", 'listen = "127.0.0.1:47311"', 'listen = "127.0.0.1:0"')
    for noise, code in (("3/2", 5), ("1", 0)):  # of 2, 0.2.0 has spent 1
        wanted = job(pair.folder, reveal="tree", noise=noise, max_depth=1)
        with start("serve", str(pair.bob), "--once", *QUIET) as serving:
            assert serving.stderr is not None
            (address,) = re.findall(r"127\.0\.0\.1:\d+", serving.stderr.readline())
            settings = pair.alice / "party.toml"
            settings.write_text(re.sub(r'(?m)^address = "[^"]*"', f'address = "{address}"', settings.read_text()))
            ended = cotally_here("train", pair.alice, wanted, "--model", pair.alice / "after.json", *QUIET)
            finish(serving)
        assert ended.code == code, ended.err
        assert code == 0 or "1 spent before (by 1) and 1.5 for this run make 2.5" in ended.err
    assert read_model(pair.alice / "after.json").schema.class_attribute.name == "outcome"


@pytest.mark.parametrize(("release", "name"), PARTIES)
def test_settings_jobs_and_models_of_a_release_are_read_after_it(tmp_path: Path, release: str, name: str) -> None:
    folder = unpacked(release, tmp_path) / name
    assert cotally_here("upgrade", folder).code == 0
    config = read_party_config(folder)
    assert config.agree.odds == 3
    assert (config.disguise.groups, config.agree.limits.smallest_test) == (None, 20)
    text = (folder / "party.toml").read_text()
    assert "# they are always full:\n# exponents" in text
    for model in sorted(folder.glob("*.json")):
        if model.name != "alignments.json":
            assert cotally_here("show", model).code == 0
    for path in folder.glob("*job.toml"):
        ended = cotally_here("check", folder, path)
        assert "is no longer a setting" not in ended.err
        assert "has been released with" in ended.err


REFUSED: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "releases that were edited": (
        "0.1.0", lambda d: edit(d / "releases.json", "3/5", "2/5"), "releases.json is damaged or edited",
    ),
    "a peer that is not pinned": (
        "0.1.0", lambda d: (d / "peers" / "bob.pem").unlink(), "released to bob, whose certificate of that time is not",
    ),
    "a model that is damaged": ("0.1.0", lambda d: edit(d / "model.json", '"sex"', '"six"'), "model.json is damaged"),
    "a key on a line of others": (
        "0.2.0",
        lambda d: edit(edit(d / "party.toml", "[data]", "compute = {exponents = 'full'}\n[data]"), "[compute]", "[x]"),
        "party.toml: [compute] exponents stands on no line of its own: take it out",
    ),
    "a ledger that was lost": ("0.2.0", lambda d: (d / "ledger.sqlite").unlink(), "is missing, and was there before"),
    "settings that are none": ("0.2.0", lambda d: edit(d / "party.toml", "[data]", "[data"), "party.toml is not TOML"),
    "an entry that was altered": (
        "0.2.0", lambda d: run_sql(d, "UPDATE entries SET content = replace(content, '18', '17')"), "was altered,",
    ),
    "a newer ledger": ("0.2.0", lambda d: run_sql(d, "PRAGMA user_version = 99"), "of a newer release of cotally: "),
    "a ledger of no release": ("0.2.0", lambda d: run_sql(d, "PRAGMA user_version = 1"), "which no release had"),
}  # fmt: skip


def edit(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


def run_sql(folder: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "ledger.sqlite")) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize("what", REFUSED)
def test_a_folder_that_cannot_be_brought_on_is_refused_by_name_and_left_as_it_is(tmp_path: Path, what: str) -> None:
    release, spoil, text = REFUSED[what]
    folder = unpacked(release, tmp_path) / "alice"
    spoil(folder)
    before = files(folder)
    ended = cotally_here("upgrade", folder)
    assert (ended.code, ended.out, text in ended.err) == (2, "", True), ended.err
    assert ended.err.count("\n") == 1
    assert files(folder) == before


@pytest.mark.parametrize("release", ["0.1.0", "0.2.0"])
def test_an_upgrade_that_is_cut_off_anywhere_is_done_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str
) -> None:
    def contents_of(folder: Path) -> list[object]:
        with ledger_of(folder) as ledger:
            return [{**entry.content, "time": ""} for entry in ledger.entries()]

    whole = unpacked(release, tmp_path / "whole") / "alice"
    assert cotally_here("upgrade", whole).code == 0
    for cut in range(len(changes(unpacked(release, tmp_path / "count") / "alice"))):
        folder = unpacked(release, tmp_path / str(cut)) / "alice"
        with locked_folder(folder) as held:
            upgrade(held, changes(folder)[:cut])
        assert cotally_here("upgrade", folder).code == 0
        assert contents_of(folder) == contents_of(whole)
        names = {"ledger.sqlite", "journal.sqlite"}  # which hold dates
        assert {file for file in files(folder) if Path(file).name not in names} == {
            file for file in files(whole) if Path(file).name not in names
        }
    if release == "0.2.0":  # between two entries, too
        folder = unpacked(release, tmp_path / "entry") / "alice"
        append, left = Ledger.append, iter(range(1))
        with monkeypatch.context() as patched, locked_folder(folder) as held:
            patched.setattr(Ledger, "append", lambda ledger, content: (next(left), append(ledger, content)))
            with pytest.raises(StopIteration):
                upgrade(held, changes(folder))
        assert cotally_here("upgrade", folder).code == 0
        assert contents_of(folder) == contents_of(whole)
        before = files(unpacked(release, tmp_path / "before") / "alice")
        assert files(copies_of(folder)).items() <= before.items()  # those of the first time


def test_links_that_have_answered_an_older_page_answer_no_other_and_the_rest_go_on(tmp_path: Path) -> None:
    folder = unpacked("0.2.0", tmp_path) / "open"
    settings = read_collector_settings(folder / "survey.toml")
    with contextlib.closing(sqlite3.connect(folder / "answers.sqlite")) as connection:
        links = connection.execute("SELECT code, response FROM links").fetchall()
    assert cotally_here("upgrade", folder).code == 0
    with open_store(settings.store, survey_digest(settings.questionnaire)) as store:
        before = store.responses()
        taken = {code: store.submit(code, b"\0\1", 20) for code, _ in links}
        assert taken == {code: Reception.TOO_OFTEN if answer else Reception.TAKEN for code, answer in links}
        assert sorted(store.responses()) == sorted([*before, *[b"\0\1"] * 6])
