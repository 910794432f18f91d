import os
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from party.data import ColumnTreatment
from party.datasets.included import load
from party.demo.data import ALICE, BOB, PARTIES, Half, Halves, deal_dataset, read_own
from party.demo.folders import check_out, config_path, fresh_folder, write_job, write_parties
from party.demo.options import DemoOptions, OwnFiles
from party.demo.run import make_reference
from party.keys.identity import load_peers
from party.node.inputs import load_inputs
from party.settings.job import read_job
from party.settings.party import read_party_config
from party.settings.toml import toml_text
from party.show.runs import notice_lines
from protocols.errors import InputError
from protocols.jobs import Train
from protocols.learning.tree import Leaf, Tree
from protocols.terms import ALL, Counting, Growth, Impurity, Method
from protocols.two_party.inputs import PartyInputs

BITS = 512
DOTS, FAST = Counting.PAILLIER, Counting.OBLIVIOUS_TRANSFER


def options(out: Path, **changes: object) -> DemoOptions:
    usual = DemoOptions(
        data="votes",
        rows=160,
        omegas=(1, ALL),
        theta=Fraction(7, 10),
        key_bits=BITS,
        test=Fraction(1, 5),
        seed=1,
        out=out,
        ways=(DOTS,),
        key_floor=BITS,
        smallest_value=1,  # tables of a few rows
    )
    return replace(usual, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["tic-tac-toe", "votes"])
def test_a_data_set_is_dealt_to_two_parties_without_loss(name: str) -> None:
    data, halves = load(name), deal_dataset(name, seed=3)
    columns = {party: list(halves.of[party].columns) for party in PARTIES}
    assert sorted(columns[ALICE] + columns[BOB]) == sorted(data.columns)
    sizes = [len([c for c in columns[party] if c != data.class_name]) for party in PARTIES]
    assert abs(sizes[0] - sizes[1]) <= 1
    assert [halves.of[party].holds_class for party in PARTIES] == [data.class_name in columns[p] for p in PARTIES]
    assert len(set(halves.ids)) == len(data.rows)
    for half in halves.of.values():
        for column, cells in half.columns.items():
            position = data.columns.index(column)
            assert list(cells) == [row[position] for row in data.rows]
        assert set(half.treatments) == set(half.columns) - {data.class_name}


def test_the_seed_decides_the_deal_and_the_rows() -> None:
    deals = [tuple(deal_dataset("votes", seed).of[ALICE].columns) for seed in (1, 1, 2, 3)]
    assert deals[0] == deals[1]
    assert len(set(deals)) == 3
    assert len({deal_dataset("votes", seed).of[ALICE].holds_class for seed in range(8)}) == 2
    halves = deal_dataset("votes", 1)
    few = halves.drawn(10, seed=3)
    assert len(few.ids) == 10
    assert {len(cells) for half in few.of.values() for cells in half.columns.values()} == {10}
    places = [list(halves.ids).index(name) for name in few.ids]
    assert places == sorted(places) != list(range(10))
    assert [few.of[ALICE].columns[n] for n in few.of[ALICE].columns] == [
        [cells[place] for place in places] for cells in halves.of[ALICE].columns.values()
    ]
    assert halves.drawn(10, seed=3) == few != halves.drawn(10, seed=4)
    with pytest.raises(InputError, match="rows must be 1 to 435"):
        halves.drawn(436, seed=3)


def own(folder: Path, alice: str, bob: str, class_name: str = "c", id_column: str | None = None) -> Halves:
    (folder / "a.csv").write_text(alice)
    (folder / "b.csv").write_text(bob)
    return read_own(OwnFiles(folder / "a.csv", folder / "b.csv", class_name, id_column))


def test_own_files_are_lined_up_by_their_ids(tmp_path: Path) -> None:
    halves = own(tmp_path, "id,x\n1,a\n2,b\n3,\n", "y,id,c\nr,3,n\np,1,m\nq,2,m\n")
    assert list(halves.ids) == ["1", "2", "3"]
    assert list(halves.of[ALICE].columns["x"]) == ["a", "b", None]
    assert list(halves.of[BOB].columns["y"]) == ["p", "q", "r"]
    assert [halves.of[party].holds_class for party in PARTIES] == [False, True]
    assert (halves.name, halves.class_name, halves.id_column) == ("a + b", "c", "id")
    assert "c" not in halves.of[BOB].treatments


def test_own_files_are_lined_up_by_ids_or_by_their_order(tmp_path: Path) -> None:
    halves = own(tmp_path, "no,x\n1,a\n2,b\n", "no,c\n2,n\n1,m\n", id_column="no")
    assert list(halves.of[BOB].columns["c"]) == ["m", "n"]
    assert list(halves.of[BOB].columns) == ["c"]
    halves = own(tmp_path, "x,c\na,m\nb,n\n", "y\np\nq\n")
    assert list(halves.ids) == ["1", "2"]
    assert list(halves.of[BOB].columns["y"]) == ["p", "q"]
    own(tmp_path, "id,x\n1,a\n", "id,c\n1,n\n")
    alice = (tmp_path / "a.csv").rename(tmp_path / os.fsdecode(b"\xe9.csv"))
    halves = read_own(OwnFiles(alice, tmp_path / "b.csv", "c", None))
    assert halves.name == r"\udce9 + b"


def test_own_files_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    for alice, bob, id_column, problem in [
        ("x\na\n", "y\np\n", None, "neither file has the class column 'c'"),
        ("x\na\n", "y,C\np,q\n", None, "neither file has the class column 'c'; did you mean 'C'?"),
        ("x,c\na,m\n", "y\np\nq\n", None, "2 rows, but .*a.csv has 1"),
        ("id,x\n1,a\n", "y,c\np,m\n", None, "b.csv, column 'id': the file has no such column"),
        ("id,x\n1,a\n", "id,c\n1,m\n", "no", "column 'no': the file has no such column"),
        ("id,x\n1,a\n1,b\n", "id,c\n1,m\n2,n\n", None, "a.csv, line 3, column 'id': this id occurs on an earlier"),
        ("id,x\n1,a\n,b\n", "id,c\n1,m\n2,n\n", None, "a.csv, line 3, column 'id': this id is empty"),
        (
            "id,x\n1,a\n2,b\n",
            "id,c\n1,m\n3,n\n",
            None,
            "b.csv.*: 2 records here and in .*a.csv, of other people: keep the people who are in both files",
        ),
        (
            "id,x\n1,a\n2,b\n",
            "id,c\n1,m\n",
            None,
            "b.csv.*: 1 records here, 2 in .*a.csv: keep the people who are in both files",
        ),
        ("id,x\n01,a\n2,b\n", "id,c\n1,m\n2.0,n\n", None, "a.csv, of the same people in another spelling"),
    ]:
        with pytest.raises(InputError, match=problem):
            own(tmp_path, alice, bob, id_column=id_column)


def test_columns_of_own_files_become_small_attributes(tmp_path: Path) -> None:
    numbers = "".join(f"{i},{'abcdefg'[i % 7]},{i % 2},m\n" for i in range(10))
    halves = own(tmp_path, f"many,texts,few,c\n{numbers}", "y\n" + "p\n" * 10)
    assert halves.of[ALICE].treatments == {
        "many": ColumnTreatment(bins="median-of-range"),
        "texts": ColumnTreatment(max_values=2),
        "few": ColumnTreatment(max_values=2),
    }


def test_an_option_out_of_its_range_is_named(tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"rows": 0}, "rows"), ({"theta": Fraction(1, 2)}, "theta"), ({"theta": Fraction(0)}, "theta"),
        ({"theta": Fraction(1)}, "theta"), ({"ways": ()}, "ways"), ({"ways": (FAST, FAST)}, "ways"),
        ({"key_bits": BITS - 2}, "key_bits must be an even number from 512"), ({"key_bits": BITS + 1}, "key_bits"),
        ({"key_bits": 16386}, "key_bits"), ({"test": Fraction(1)}, "test"), ({"test": Fraction(-1)}, "test"),
        ({"seed": -1}, "seed"), ({"seed": 2**63}, "seed"), ({"omegas": ()}, "omega"), ({"omegas": (1, 1)}, "omega"),
    ]  # fmt: skip
    for change, option in wrong:
        with pytest.raises(InputError, match=f"^{option}") as caught:
            options(tmp_path, **change)
        assert caught.value.field == option.split(maxsplit=1)[0]


ODD = ['a "b"\\', "#", "é", "= =", "…", "x.y", "[z]"]


def odd_halves() -> Halves:
    treatments = {
        ODD[0]: ColumnTreatment(bins=(Decimal("1.5"), Decimal(2))),
        ODD[1]: ColumnTreatment(bins="quantiles:3", missing="majority"),
        ODD[2]: ColumnTreatment(max_values=2, missing='"?"'),
    }
    cells = {name: ["1", "2", "3"] for name in ODD[:3]}
    classes = {name: ["yes", None, 'no, "maybe"'] for name in ODD[3:6]}
    return Halves(
        'odd "name"', ODD[6], "i d", ["1", "2", "3"],
        {ALICE: Half(cells, treatments, False), BOB: Half({**classes, ODD[6]: ["m", "n", "m"]}, {}, True)},
    )  # fmt: skip


def test_settings_and_data_survive_odd_names_and_values(tmp_path: Path) -> None:
    halves = odd_halves()
    write_parties(tmp_path, halves, options(tmp_path), port=7071)
    configs = {p: read_party_config(config_path(tmp_path, p), BITS) for p in PARTIES}
    named = {name: replace(treatment, smallest_value=1) for name, treatment in halves.of[ALICE].treatments.items()}
    assert dict(configs[ALICE].columns.named) == named
    assert (configs[ALICE].data.class_column, configs[BOB].data.class_column) == (None, ODD[6])
    assert configs[BOB].data.dataset == 'odd "name"'
    assert str(configs[ALICE].need_address()) == str(configs[BOB].need_listen()) == "127.0.0.1:7071"
    assert [configs[p].need_peer() for p in PARTIES] == [BOB, ALICE]
    local = load_inputs(configs[BOB], BITS)
    assert [a.name for a in local.attributes] == ODD[3:6]
    assert local.attributes[0].values == ('no, "maybe"', "yes", "missing")
    assert local.groups == ((0,), (1,), (2,), (3,))  # a coin per column


def test_each_folder_holds_its_own_secrets_and_the_others_certificate_only(tmp_path: Path) -> None:
    write_parties(tmp_path, deal_dataset("votes", 1).taken(range(5)), options(tmp_path), port=1)
    assert set(load_peers(tmp_path / ALICE)) == {BOB}
    assert set(load_peers(tmp_path / BOB)) == {ALICE}
    secrets = [(tmp_path / party / name).read_bytes() for party in PARTIES for name in ("secret.key", "key.pem")]
    assert len(set(secrets)) == 4
    for party, other in ((ALICE, BOB), (BOB, ALICE)):
        header = (tmp_path / party / "data.csv").read_text().splitlines()[0].split(",")
        assert not set(header[1:]) & set(deal_dataset("votes", 1).of[other].columns)


def test_a_job_is_what_was_asked(tmp_path: Path) -> None:
    asked = options(tmp_path, seed=7)
    name = write_job(tmp_path, "hybrid-2", asked.terms(Method.HYBRID, 2, "c"))
    terms = asked.terms(Method.HYBRID, 2, "c")
    assert (terms.seed, terms.counting, terms.key_bits) == (7, Counting.PAILLIER, BITS)
    assert read_job(tmp_path / name, BITS) == Train(terms)
    name = write_job(tmp_path, "fast", asked.terms(Method.HYBRID, 2, "c", FAST))
    assert read_job(tmp_path / name, BITS) == Train(replace(terms, counting=FAST))
    limited = options(tmp_path, seed=7, max_depth=3, min_leaf=4, impurity=Impurity.GINI)
    name = write_job(tmp_path, "limited", limited.terms(Method.HYBRID, 2, "c"))
    assert read_job(tmp_path / name, BITS) == Train(replace(terms, max_depth=3, min_leaf=4, impurity=Impurity.GINI))
    assert limited.growth == Growth(3, 4, impurity=Impurity.GINI)
    noisy = replace(limited, noise=Fraction(2), omegas=(ALL,))
    assert limited.growth == noisy.growth
    for method in (Method.HYBRID, Method.RANDOMIZED):
        name = write_job(tmp_path, "noisy", noisy.terms(method, ALL, "c"))
        told = read_job(tmp_path / name, BITS)
        assert isinstance(told, Train)
        assert told.terms.noise == (Fraction(2) if method == Method.HYBRID else None)
    name = write_job(tmp_path, "smc", asked.terms(Method.SMC, ALL, "c"))
    assert read_job(tmp_path / name, BITS) == Train(replace(terms, method=Method.SMC, omega=ALL))


def test_toml_text_is_read_back() -> None:
    import tomllib

    for text in ODD:
        assert tomllib.loads(f"{toml_text(text)} = {toml_text(text)}") == {text: text}


def test_the_folder_of_an_older_demo_is_replaced_and_what_else_is_in_it_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for turn in ("old", "new"):
        with fresh_folder(out) as staged:
            (staged / "run.json").write_text('{"format": "cotally-run/1"}')
            (staged / ALICE).mkdir()
            (staged / ALICE / turn).touch()
        (out / "figure.png").touch()
        (out / "notes.txt").write_text("mine")
        assert [path.name for path in (out / ALICE).iterdir()] == [turn]
    with fresh_folder(out):
        pass
    assert sorted(path.name for path in out.iterdir()) == ["notes.txt"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_no_demos_is_refused_and_stays(tmp_path: Path) -> None:
    for number, (name, content) in enumerate(
        (("data.csv", "x"), ("run.json", "{}"), ("run.json", "no"), ("run.json", "[]"))
    ):
        out = tmp_path / str(number)
        out.mkdir()
        (out / name).write_text(content)
        with pytest.raises(InputError, match="no demo's: choose another folder"), fresh_folder(out):
            pytest.fail("was let in")
        assert (out / name).read_text() == content
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is not a folder"):
        check_out(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    check_out(tmp_path / "empty")


def fail_to_prepare(out: Path) -> None:
    with fresh_folder(out) as staged:
        (staged / "run.json").write_text("half")
        raise InputError("bad data")


def test_a_demo_that_cannot_be_prepared_leaves_the_older_one(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with fresh_folder(out) as staged:
        (staged / "run.json").write_text('{"format": "cotally-run/1"}')
    with pytest.raises(InputError, match="bad data"):
        fail_to_prepare(out)
    assert (out / "run.json").read_text() == '{"format": "cotally-run/1"}'
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written"), fresh_folder(tmp_path / "file" / "out"):
        pytest.fail("was let in")


def locals_of(folder: Path, halves: Halves, asked: DemoOptions) -> dict[str, PartyInputs]:
    write_parties(folder, halves, asked, port=1)
    return {p: load_inputs(read_party_config(config_path(folder, p), BITS), BITS) for p in PARTIES}


def test_the_reference_is_plain_id3_on_the_joined_table(tmp_path: Path) -> None:
    asked = options(tmp_path, test=Fraction(1, 4))
    reference = make_reference(locals_of(tmp_path, deal_dataset("votes", 1).taken(range(60)), asked), asked)
    assert (len(reference.train), len(reference.test)) == (45, 15)
    assert len(reference.schema.attributes) == 16
    data = load("votes")
    names = [column.name for column in reference.schema.columns]
    values = [column.values for column in reference.schema.columns]
    rows = [tuple(values[i][code] for i, code in enumerate(row)) for row in [*reference.train, *reference.test]]
    expected = [tuple(row[data.columns.index(name)] for name in names) for row in data.rows[:60]]
    assert sorted(rows) == sorted(expected)
    assert (reference.tree.predict(reference.train) == reference.train[:, -1]).mean() > 0.95
    assert reference.is_plain(reference.tree)
    truth = reference.test[:, -1]
    assert reference.correct(reference.tree) == (reference.tree.predict(reference.test) == truth).sum()
    leaf = Tree(reference.schema, Leaf((45, 0), 0))
    assert reference.correct(leaf) == (truth == 0).sum()
    assert not reference.is_plain(leaf)
    assert "45 + 15" in repr(reference)


def test_without_test_records_there_is_nothing_to_be_right_about(tmp_path: Path) -> None:
    asked = options(tmp_path, test=Fraction(0))
    reference = make_reference(locals_of(tmp_path, deal_dataset("votes", 1).taken(range(20)), asked), asked)
    assert len(reference.train) == 20
    assert reference.correct(reference.tree) is None


def test_a_class_that_both_hold_must_be_the_same(tmp_path: Path) -> None:
    equal = own(tmp_path, "x,c\na,m\nb,n\na,n\nb,m\n", "y,c\np,m\nq,n\np,n\np,m\n")
    (tmp_path / "equal").mkdir()
    reference = make_reference(locals_of(tmp_path / "equal", equal, options(tmp_path)), options(tmp_path))
    assert reference.schema.class_owners == PARTIES
    for other in ("n", "o"):
        folder = tmp_path / other
        folder.mkdir()
        cells = [other, *equal.of[BOB].columns["c"][1:]]
        half = replace(equal.of[BOB], columns={**equal.of[BOB].columns, "c": cells})
        differing = replace(equal, of={**equal.of, BOB: half})
        with pytest.raises(InputError, match="differ in their class columns"):
            make_reference(locals_of(folder, differing, options(tmp_path)), options(tmp_path))


def test_how_files_were_read_is_shown_of_each_party(tmp_path: Path) -> None:
    rows = [f"p{i};{'NA' if i % 5 == 0 else 'xy'[i % 2]};Zürich" for i in range(40)]
    (tmp_path / "a.csv").write_bytes("\n".join(["id;a;town", *rows]).encode("cp1252"))
    (tmp_path / "b.csv").write_text("\n".join(["id,c", *(f"p{i},{'no' if i % 3 else 'yes'}" for i in range(40))]))
    notices = list(notice_lines(read_own(OwnFiles(tmp_path / "a.csv", tmp_path / "b.csv", "c", None)).notices))
    assert any(notice.startswith("alice: ") and "read as Windows-1252" in notice for notice in notices)
    assert "alice: taken for missing cells: 'NA' in 'a'" in notices
    assert not any(notice.startswith("bob: ") for notice in notices)
