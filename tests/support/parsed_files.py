"""Parsers of files and texts that somebody else may have written or damaged, each with one that it takes."""

import base64
import json
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from pyarrow import parquet

from party.association.estimation import parse_itemset
from party.association.files import read_baskets
from party.association.sent import read_sent, write_sent
from party.data.reader import read_frame
from party.files import locked_folder, write_new
from party.keys.coin_secret import CoinSecret, read_coin_secret, write_coin_secret
from party.keys.identity import load_identity, load_peers
from party.keys.keystore import PAILLIER_FILE, load_key
from party.keys.passphrase import write_secret
from party.keys.sealing import SEALED_FILE, read_sealed, sealed_bytes
from party.models.any_file import model_json, read_model
from party.records.alignments import ALIGNMENTS_FILE, keep_alignment, kept_people
from party.records.journal import JOURNAL_FILE, RunRecord, open_journal, recorded_runs
from party.records.ledger import LEDGER_FILE, Ledger, open_ledger, read_ledger
from party.records.run_file import read_train_report
from party.settings.collector import read_collector_settings
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.settings.survey import read_design
from party.settings.transactions import read_basket_design
from party.survey.estimation import parse_expression
from party.survey.table import read_codes, read_disguised
from party.survey.web.submissions import ANSWER_FORMAT, ResponseShape
from protocols.association.transactions import Randomized, Transactions
from tests.support.identities import create_identity, create_keys
from tests.support.models import small_model
from tests.support.parsed_frames import Reader

SECRET = bytes(range(32))
LISTS = bytes(32), bytes(range(32))
PARTY = b"""name = "alice"
[data]
file = "data.csv"
id = "id"
class = "outcome"
smallest_value = 10
[columns]
"*" = { max_values = 4 }
age = { bins = "quantiles:4" }
height = { bins = [1, 2.5, "3"] }
[agree]
odds = 2
omega = 3
[node]
listen = "0.0.0.0:7071"
patience = 30
"""
JOB = b"""method = "hybrid"
class = "outcome"
theta = "2/3"
omega = 3
counting = "paillier"
test = "1/5"
seed = 1
key_bits = 3072
reveal = "counts"
"""
SURVEY = b"""kind = "unrelated"
theta = "1/2"
plain = ["sex"]
id = "id"
[columns]
smokes = { values = ["yes", "no"] }
income = { values = ["low", "middle", "high"], missing = "refuse" }
sex = { values = ["f", "m"], missing = "refuse" }
[groups]
habits = ["smokes"]
money = ["income"]
[personal]
smokes = { yes = "1/2", no = "1/2" }
income = { low = "1/3", middle = "1/3", high = "1/3" }
"""
COLLECTOR = b"""title = "A survey"
[questions.smokes]
text = "Do you smoke?"
answers = ["Yes", "No"]
[close]
date = 2026-12-31T18:00:00+01:00
[server]
requests = 30
"""
BASKETS = b"""kind = "select-a-size"
items = ["bread", "milk", "jam"]
supports = ["1/10", "1/20"]
[chances]
0 = ["1"]
1 = ["1/4", "3/4"]
2 = ["1/4", "1/4", "1/2"]
3 = [0, 0, 0, 1]
[rho]
0 = "1/5"
1 = "1/5"
2 = "1/5"
3 = "1/5"
"""
CSV = b"id,age,city\np1,30,Oslo\np2,41,Bergen\n"
TRUE_ANSWERS = b"id,smokes,income,sex\np1,yes,low,f\np2,no,high,m\n"
LINES = b"bread,milk\n\njam\n"
REPORT = {
    "run": "00", "counts_of": {"tables": 1},
    "method": "hybrid", "omega": 2, "accuracy": 0.5, "correct": 1.0, "records_test": 2, "smc_computations": 1,
    "seconds": 1.0, "bytes_sent": 1, "bytes_received": 1, "round_trips": 1, "exact_counts_disclosed": 1,
    "phases": {}, "noise": None, "delta": None, "seen": {"one_group": 3, "two_groups": None, "together": None},
}  # fmt: skip


def file_readers(folder: Path) -> Iterator[Reader]:
    """Yield what reads a party's files, in a folder of its own for each kind."""
    folder.chmod(0o700)
    create_identity(folder, "alice")
    create_keys(folder, 512, 512)
    (folder / "peers").mkdir(mode=0o700)
    (folder / "peers" / "bob.pem").write_bytes(create_identity(folder / "bob", "bob").pem)
    yield from _settings(folder)
    yield _file(folder / "table.csv", CSV, read_frame)
    yield _file(folder / "table.parquet", _parquet(), read_frame)
    yield _file(folder / "model.json", model_json(small_model()).encode(), read_model)
    yield _file(folder / "report.json", json.dumps(REPORT).encode(), read_train_report)
    for name in ("key.pem", "cert.pem"):
        yield _file(folder / name, (folder / name).read_bytes(), lambda _: load_identity(folder))
    pem = (folder / "peers" / "bob.pem").read_bytes()
    yield _file(folder / "peers" / "bob.pem", pem, lambda _: load_peers(folder))
    yield _certificate(folder / "peers" / "bob.pem")
    yield _file(folder / PAILLIER_FILE, (folder / PAILLIER_FILE).read_bytes(), lambda _: load_key(folder, 64))
    sealed = folder / "sealed" / SEALED_FILE
    sealed.parent.mkdir(mode=0o700)
    write_secret(sealed, sealed_bytes({"key.pem": b"x"}, "a passphrase", "passphrase", bytes(16)))
    yield _file(sealed, sealed.read_bytes(), read_sealed)
    coins = folder / "coins.json"
    write_coin_secret(coins, CoinSecret("d", SECRET, {"theta": "4/5"}))
    yield _file(coins, coins.read_bytes(), read_coin_secret)
    keep_alignment(folder, SECRET, "d", "bob", LISTS, ["ann", "eve"])
    people = folder / ALIGNMENTS_FILE
    yield _file(people, people.read_bytes(), lambda _: kept_people(folder, SECRET, "d", "bob", LISTS[0]))
    yield from _databases(folder)


def _parquet() -> bytes:
    table, target = pa.table({"id": ["p1", "p2"], "age": [30, None], "x": [0.5, 1e9]}), BytesIO()
    parquet.write_table(table, target)
    return target.getvalue()


def _file(path: Path, example: bytes, read: Callable[[Path], object], *more: bytes) -> Reader:
    """Read bytes in the place of a file, which is put back."""
    if not path.exists():
        path.write_bytes(example)
    before = path.read_bytes()

    def read_these(data: bytes) -> None:
        path.write_bytes(data)
        try:
            read(path)
        finally:
            path.write_bytes(before)

    return path.name, read_these, (example, *more)


def _settings(folder: Path) -> Iterator[Reader]:
    yield _file(folder / "party.toml", PARTY, read_party_config)
    yield _file(folder / "job.toml", JOB, read_job)
    yield _file(folder / "design.toml", SURVEY, read_design)
    yield _file(folder / "survey.toml", COLLECTOR, read_collector_settings)
    yield _file(folder / "baskets.toml", BASKETS, read_basket_design)
    survey, baskets = read_design(folder / "design.toml"), read_basket_design(folder / "baskets.toml")
    yield _file(folder / "answers.csv", TRUE_ANSWERS, lambda path: read_codes(path, survey))
    yield _file(folder / "disguised.csv", TRUE_ANSWERS, lambda path: read_disguised(path, survey))
    yield _file(folder / "baskets.txt", LINES, lambda path: read_baskets(path, baskets))
    sent = folder / "sent.csv"
    write_sent(sent, Randomized(Transactions.of([[0, 1], []], 3), np.array([2, 1])), baskets)
    yield _file(sent, sent.read_bytes(), lambda path: read_sent(path, baskets))
    yield "itemset", lambda data: parse_itemset(data.decode("utf-8", "replace"), baskets), (b"bread, jam",)
    words = b"smokes = yes and income = 'low'"
    yield "expression", lambda data: parse_expression(data.decode("utf-8", "replace"), survey), (words,)


def _certificate(path: Path) -> Reader:
    """Read a certificate whose bytes are changed under its armour."""
    before = path.read_bytes()
    der = x509.load_pem_x509_certificate(before).public_bytes(Encoding.DER)

    def read(data: bytes) -> None:
        path.write_bytes(armoured(data))
        try:
            load_peers(path.parent.parent)
        finally:
            path.write_bytes(before)

    return "certificate", read, (der,)


def armoured(der: bytes) -> bytes:
    """Return a certificate as files have it."""
    return b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE-----\n"


def _databases(folder: Path) -> Iterator[Reader]:
    """Yield what reads the files of SQLite: each time a file of another name, which SQLite has not seen."""
    made = folder / "made"
    made.mkdir(mode=0o700)
    with locked_folder(made) as held, open_ledger(held, SECRET) as ledger:
        ledger.append({"time": "t", "peer": "bob", "fingerprint": "f", "kind": "head", "entries": 0, "digest": "00"})
    with open_journal(made, SECRET) as journal:
        journal.begin(RunRecord("00" * 8, "bob", "f", "d", {"kind": "train"}, "c", True, "t", "t"))
    for name, read in ((LEDGER_FILE, read_ledger), (JOURNAL_FILE, recorded_runs)):
        yield name, partial(_read_database, folder / "databases", name, read), ((made / name).read_bytes(),)


def _read_database(folder: Path, name: str, read: Callable[[Path, bytes], object], data: bytes) -> None:
    folder.mkdir(mode=0o700)
    try:
        write_new(folder / name, data, 0o600)
        found = read(folder, SECRET)
        if isinstance(found, Ledger):
            found.close()
    finally:
        shutil.rmtree(folder)


def survey_readers() -> Iterator[Reader]:
    """Yield what reads what a browser sends."""
    shape = ResponseShape("5e", (2, 3, 2), (False, True, True))
    answer = {"format": ANSWER_FORMAT, "survey": "5e", "code": "A" * 24, "answers": "0102ff"}
    yield "answer", shape.read_answer, (json.dumps(answer).encode(),)
    yield "form", shape.read_form, (b"survey=5e&code=" + b"A" * 24 + b"&a0=01&a1=02&a2=ff",)
