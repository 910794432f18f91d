"""Whole runs of two processes over files as other programs write them: what is no column of the table is in no tree."""

import json
from pathlib import Path

import pytest

from tests.support.processes import Pair, cotally, make_pair, serving

VISITS = (
    "220120000122112110022010022120120102212021111122011022000022112200022210110001212222111021202000202012122010012002"
    "222121"
)
MEMBER = (
    "TFFFTFTFFTFTTTTTFFFFFFFFTFFTFTTTTTFFFTFTFFFFFTFTFFFFFFTTFTTFTFFTTFFTFTTFTFFFFFFTFFTTFTFFFFTTFFFFTTTFFTTFTFTFFTTFFTTFF"
    "FFT"
)
WARD = (
    "100101100001001101110111001011110111101110110111101111100010110111101111101101011001100111001101000010101100111100011"
    "100"
)
CLAIM = (
    "010000100110110100001000111111101101111110000110000011110101101010001010100100011100010010011000010000110010010000011"
    "010"
)
JOB = "???loolooo?lllo??l?olool?oollolollollllol??lool?l?l????l?ool"
SEX = "fmmfffmmmmfmmfffffmfmmmmmmfmmmmmffmmmfmffffffffffmfffffmffff"
PAY = "><<<>>><<<>>><>>><<>><<><<>>><><<<<>><>><>><>><><<<>>>>>>>><"
JOBS = {"?": "?", "l": "clerk", "o": "cook"}
PAYS = {">": ">50K", "<": "<=50K"}


def untouched_pair(trusting: Path, folder: Path) -> Pair:
    pair = make_pair(trusting, folder, (["a"], []), (["b"], []))
    for party in (pair.alice, pair.bob):
        (party / "data.csv").unlink()
    return pair


def run(pair: Pair, class_name: str) -> None:
    job = pair.write_job(method="smc", test="0", **{"class": class_name})
    with serving(pair):
        trained = pair.train(job)
    assert trained.code == 0, trained.err


def nodes(tree: object) -> int:
    assert isinstance(tree, dict)
    return 1 + sum(nodes(child["node"]) for child in tree.get("children", ()))


def test_the_index_that_pandas_hides_in_parquet_is_in_no_tree(trusting: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    ids = [f"{row:03}" for row in range(120)]
    pair = untouched_pair(trusting, tmp_path / "parties")
    table = {"id": ids, "visits": list(VISITS), "member": [str(letter == "T") for letter in MEMBER]}
    pandas.DataFrame(table, index=pandas.Index(range(0, 240, 2))).to_parquet(pair.alice / "data.parquet")
    rows = [f"{name},{ward},{claim}" for name, ward, claim in zip(ids, WARD, CLAIM, strict=True)]
    (pair.bob / "data.csv").write_text("\n".join(["id,ward,claim", *rows, ""]))
    pair.edit("alice", 'file = "data.csv"', 'file = "data.parquet"')
    pair.edit("bob", '# class = "outcome"', 'class = "claim"')
    run(pair, "claim")
    model = json.loads((pair.bob / "model.json").read_text())
    assert {column["name"] for column in model["attributes"]} == {"visits", "member", "ward"}
    assert model["tree"]["attribute"] == "member"
    assert nodes(model["tree"]) == 15


def test_blanks_after_every_comma_are_no_part_of_a_value(trusting: Path, tmp_path: Path) -> None:
    pair = untouched_pair(trusting, tmp_path / "parties")
    alices = [f"{row}, {JOBS[job]}, {sex}" for row, (job, sex) in enumerate(zip(JOB, SEX, strict=True))]
    bobs = [f"{row}, {PAYS[pay]}" for row, pay in enumerate(PAY)]
    (pair.alice / "data.csv").write_text("\n".join(["id, job, sex", *alices, ""]))
    (pair.bob / "data.csv").write_text("\n".join(["id, pay", *bobs, ""]))
    pair.edit("bob", '# class = "outcome"', 'class = "pay"')
    run(pair, "pay")
    tidy = [",".join((JOBS[job], sex, PAYS[pay])) for job, sex, pay in zip(JOB, SEX, PAY, strict=True)]
    (tmp_path / "tidy.csv").write_text("\n".join(["job,sex,pay", *tidy, ""]))
    told = cotally("predict", str(pair.bob / "model.json"), str(tmp_path / "tidy.csv"))
    assert told.code == 0
    missing, accuracy, *_ = told.err.splitlines()
    assert missing == "taken for missing cells: '?' in 'job'"
    assert accuracy.startswith("Accuracy 1.000 ± 0.000 on 60 rows (rows trained on included), 60 of them right; ")
