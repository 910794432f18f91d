"""`cotally precompute`, as a process: made, counted, interrupted, killed, and used by a run."""

import re
import secrets
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from party.keys.factors import BLOCK_FACTORS, FactorStore
from party.keys.factors.seal import derive_key, key_digest
from party.keys.factors.witness import Machine, Witness
from party.keys.keystore import load_keys, load_secret
from protocols.ciphers.port import Reply, Shape
from protocols.terms import Cipher
from tests.support.processes import Ended, Pair, cotally_here, finish, make_pair, serving, start, wait_for

ROWS = [[str(i % 2), str(i % 3), "yes" if i % 2 else "no"] for i in range(60)]


def witness_of(folder: Path, cipher: Cipher = Cipher.PAILLIER) -> Path:
    public = load_keys(folder, 2048)[cipher].public
    return Witness(Machine.here(), derive_key(load_secret(folder), b"witness", key_digest(public))).path


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Iterator[Pair]:
    tables = (["a", "b", "class"], ROWS), (["c", "d"], [row[1::-1] for row in ROWS])
    pair = make_pair(trusting, tmp_path / "parties", *tables)
    for name in ("alice", "bob"):
        pair.edit(name, "odds = 2 ", 'odds = "any" ')
        pair.edit(name, '["curve", "paillier"]', '["paillier", "curve"]')
    yield pair
    for folder in (pair.alice, pair.bob):
        for cipher in Cipher:
            witness_of(folder, cipher).unlink(missing_ok=True)  # it stands elsewhere on the machine, one per key


@pytest.fixture
def alice(pair: Pair) -> Path:
    return pair.alice


def precompute(folder: Path, *more: str) -> Ended:
    ended = cotally_here("precompute", str(folder), "--progress", "none", *more)
    assert ended.code == 0, ended.err
    return ended


def left(ended: Ended) -> int:
    found = re.search(r"(\d+) factors are left for (?:paillier|curve), ", ended.out)
    assert found, ended.out
    return int(found[1])


def store_of(folder: Path, cipher: Cipher = Cipher.PAILLIER) -> FactorStore:
    return FactorStore(folder, load_secret(folder), load_keys(folder, 2048)[cipher].public)


def test_as_many_are_made_as_are_asked_for_and_status_tells_what_they_are_good_for(alice: Path) -> None:
    assert left(precompute(alice, "--status")) == 0
    assert left(precompute(alice, "--count", "130", "--workers", "1")) == 2 * BLOCK_FACTORS
    assert left(precompute(alice, "--count", "1", "--workers", "2")) == 3 * BLOCK_FACTORS
    told = precompute(alice, "--status")
    assert left(told) == 3 * BLOCK_FACTORS
    (a_record, records) = re.findall(r"A record takes (\d+): enough for (\d+) records; .* have 60", told.out)[0]
    assert int(records) == 3 * BLOCK_FACTORS // int(a_record)
    assert (alice / "factors-paillier.store").stat().st_mode & 0o777 == 0o600


def test_what_is_stored_are_different_encryptions_of_zero_under_the_partys_key(alice: Path) -> None:
    precompute(alice, "--count", "256", "--workers", "1")
    key = load_keys(alice, 2048)[Cipher.PAILLIER]
    factors = store_of(alice).take(256)
    assert len(set(factors)) == 256
    zeros = key.public.seal([Reply(key.public.read(b"".join(factors)), slots=1)], 1, secrets)
    assert set(key.counts(zeros, [Shape(256, 1)], 1)) == {0}


def test_without_an_amount_a_run_over_the_partys_data_has_enough(alice: Path) -> None:
    made = precompute(alice, "--workers", "1")
    (a_record, records) = re.findall(r"A record takes (\d+): enough for (\d+) records", made.out)[0]
    assert 60 <= int(records) < 60 + BLOCK_FACTORS / int(a_record)
    assert left(precompute(alice, "--workers", "1")) == left(made)
    more = precompute(alice, "--for-rows", "100", "--workers", "1")
    assert left(more) >= 100 * int(a_record) > left(made)


def test_seconds_end_it(alice: Path) -> None:
    assert left(precompute(alice, "--seconds", "1", "--workers", "1")) >= BLOCK_FACTORS


def test_progress_tells_how_many_are_made(alice: Path) -> None:
    ended = cotally_here("precompute", str(alice), "--count", "256", "--workers", "1", "--progress", "json")
    assert '{"phase": "making factors", "done": 256, "total": 256.0}' in ended.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_stopped_at_any_time_it_keeps_what_was_made(alice: Path, number: signal.Signals, code: int) -> None:
    path = alice / "factors-paillier.store"
    process = start("precompute", str(alice), "--seconds", "600", "--workers", "1")
    wait_for(lambda: path.exists() and path.stat().st_size > 300_000)
    process.send_signal(number)
    ended = finish(process)
    assert ended.code == code, ended.err
    assert "Traceback" not in ended.err
    told = precompute(alice, "--status")
    assert left(told) >= 3 * BLOCK_FACTORS
    assert "discarded" not in told.out
    if number == signal.SIGINT:
        assert left(ended) == left(told)


@pytest.mark.parametrize(
    "arguments",
    [["--count", "0"], ["--count", "x"], ["--seconds", "0"], ["--count", "1", "--seconds", "1"], ["--workers", "-1"]],
)
def test_a_wrong_amount_is_one_line_of_error(alice: Path, arguments: list[str]) -> None:
    ended = cotally_here("precompute", str(alice), *arguments)
    assert ended.code == 2
    assert ended.err.startswith("cotally: ")
    assert ended.err.count("\n") == 1


def test_a_damaged_store_is_one_line_of_error_that_names_the_file_and_the_cure(alice: Path) -> None:
    precompute(alice, "--count", "1", "--workers", "1")
    path = alice / "factors-paillier.store"
    path.write_bytes(path.read_bytes()[:-1])
    ended = cotally_here("precompute", str(alice), "--status")
    assert ended.code == 2
    assert ended.err == f"cotally: {path}: damaged, or an older copy was written over it: delete it\n"


def test_pairs_of_the_curve_are_made_too_and_a_store_of_the_other_cipher_is_one_line_of_error(alice: Path) -> None:
    assert left(precompute(alice, "--cipher", "curve", "--count", "130", "--workers", "1")) == 2 * BLOCK_FACTORS
    assert left(precompute(alice, "--status")) == 0
    assert left(precompute(alice, "--cipher", "curve", "--status")) == 2 * BLOCK_FACTORS
    (alice / "factors-curve.store").rename(alice / "factors-paillier.store")
    ended = cotally_here("precompute", str(alice), "--status")
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    assert f"{alice / 'factors-paillier.store'}: its factors are of another key or cipher" in ended.err


def test_a_copied_party_is_told_that_its_factors_were_discarded(alice: Path, tmp_path: Path) -> None:
    precompute(alice, "--count", "1", "--workers", "1")
    shutil.copytree(alice, tmp_path / "copy")
    told = precompute(tmp_path / "copy", "--status")
    assert (left(told), left(precompute(alice, "--status"))) == (0, BLOCK_FACTORS)
    assert "discarded" in told.out


def test_a_run_uses_the_factors_and_builds_the_same_tree(pair: Pair) -> None:
    trees = []
    for stocked in (False, True):
        if stocked:
            for folder in (pair.alice, pair.bob):
                precompute(folder, "--count", "128", "--workers", "1")
        with serving(pair, "--once") as process:
            trained = pair.train_here(
                pair.write_job(theta="9/10", test="1/2", engine="encrypted_coins", cipher="paillier")
            )
            assert trained.code == 0, trained.err
            served = finish(process)
        trees.append((pair.bob / "model.json").read_bytes())
        told = re.findall(r"(\d+) factors made ahead were used, (\d+) are left", trained.err + served.err)
        assert sorted(told) == ([("0", "128"), ("128", "0")] if stocked else [])
    assert trees[0] == trees[1]
    assert sorted(left(precompute(folder, "--status")) for folder in (pair.alice, pair.bob)) == [0, 128]
