"""What Python programs import: parties that really run, models that are read, and one public surface."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import cotally
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from party.demo.processes import free_port
from protocols.association.joint import JointItemsets
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.tree import Tree
from tests.support.examples import few

ROOT = Path(__file__).parents[3]
RECORDS = 240


def table() -> tuple[pd.DataFrame, pd.Series]:
    """Return columns of which one of each party's tells much of the class."""
    chance = np.random.default_rng(5)
    label = chance.integers(0, 2, RECORDS)
    frame = pd.DataFrame(
        {
            "age": chance.normal(40 + 15 * label, 8),
            "town": chance.choice(["north", "south"], RECORDS),
            "work": np.where(chance.random(RECORDS) < 0.8, np.where(label, "desk", "field"), "other"),
            "visits": chance.integers(0, 40, RECORDS),
        }
    )
    return frame, pd.Series(np.where(label, "yes", "no"), name="outcome")


def settings(name: str, peer: str, port: int, held: str) -> str:
    place = "listen" if name == "alice" else "address"
    return (
        f'name = "{name}"\n[data]\nfile = "data.csv"\nid = "id"\n{held}[columns]\n"*" = {{ max_values = 4 }}\n'
        f"[agree]\nexact_counts = true\nsmallest_key_bits = 2048\n"
        f'[node]\npeer = "{peer}"\nsilence = 60\n{place} = "127.0.0.1:{port}"\n'
    )


@pytest.fixture
def parties(tmp_path: Path) -> tuple[cotally.Party, cotally.Party]:
    """Return two parties as `Party.create` makes them, each with its own file and the other's certificate."""
    folder, port = tmp_path / "parties", free_port()
    folder.mkdir()
    frame, label = table()
    halves = {"alice": frame[["age", "town"]].assign(outcome=label), "bob": frame[["work", "visits"]]}
    made = []
    for name, peer, held in (("alice", "bob", 'class = "outcome"\n'), ("bob", "alice", "")):
        content = settings(name, peer, port, held)
        made.append(cotally.Party.create(folder / name, name, settings=content, key_bits=2048))
        halves[name].to_csv(folder / name / "data.csv", index_label="id")
    for party, peer in ((made[0], "bob"), (made[1], "alice")):
        party.trust(folder / peer / "cert.pem")
    return made[0], made[1]


JOB = """method = "hybrid"
class = "outcome"
key_bits = 2048
theta = "2/3"
reveal = "counts"
"""


def test_two_parties_of_a_program_end_with_one_model_that_is_read_and_classifies_rows(
    parties: tuple[cotally.Party, cotally.Party], tmp_path: Path
) -> None:
    alice, bob = parties
    job = tmp_path / "job.toml"
    job.write_text(JOB)
    bob = cotally.Party(str(bob.path))  # a path or a text will do
    with ThreadPoolExecutor(1) as pool, alice.listening() as listening:
        answered = pool.submit(listening.answer)
        ours, theirs = bob.train(str(job)), answered.result(120)
    assert ours.path.read_bytes() == theirs.path.read_bytes()
    assert ours.report.accuracy == theirs.report.accuracy is not None
    frame, label = table()
    model = cotally.load_model(ours.path)
    assert model.classes == ("no", "yes")
    assert set(model.columns) <= {"alice.age", "alice.town", "bob.work", "bob.visits"}
    labels = model.predict(frame)
    assert np.mean(np.array(labels) == label) > 0.8
    shares = model.predict_proba(frame)
    assert [model.classes[column] for column in shares.argmax(axis=1)] == labels
    assert "outcome [no, yes]" in model.text()
    assert any("exact counts" in line for line in alice.disclosures())
    job.write_text(JOB + "omega = 1\n")
    with ThreadPoolExecutor(1) as pool, alice.listening() as listening:
        refused = pool.submit(listening.answer)
        with pytest.raises(cotally.PeerError, match="most_runs"):
            bob.train(job)
        assert isinstance(refused.exception(60), cotally.PeerError)


def test_two_parties_of_a_program_find_rules_that_are_read_as_a_data_frame(
    parties: tuple[cotally.Party, cotally.Party], tmp_path: Path
) -> None:
    alice, bob = parties
    job = tmp_path / "job.toml"
    rules = 'min_support = "1/10"\nmax_len = 2\nmost_sets = 40\n'
    job.write_text(f'method = "smc"\nlearner = "rules"\nreveal = "counts"\nkey_bits = 2048\n{rules}')
    with ThreadPoolExecutor(1) as pool, alice.listening() as listening:
        answered = pool.submit(listening.answer)
        ours, theirs = bob.train(job), answered.result(120)
    assert ours.path.read_bytes() == theirs.path.read_bytes()
    assert isinstance(ours.model, JointItemsets)
    sets = cotally.joint_itemsets(ours.path)
    assert len(sets) == len(ours.model.frequent) > 5
    found = cotally.joint_rules(ours.path, min_threshold=0.7)
    assert {"antecedents", "consequents", "confidence"} <= set(found.columns)
    assert len(found) > 0
    assert (found["confidence"] >= 0.7).all()


def test_a_parameter_that_no_run_can_have_is_a_value_error_in_one_line() -> None:
    frame, label = table()
    for changes, words in (
        ({"theta": "2"}, "theta"),
        ({"method": "best"}, "method"),
        ({"omega": 0}, "omega"),
        ({"first": ["nobody"]}, "no column 'nobody'"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            cotally.TwoPartyID3Classifier(**changes).fit(frame, label)
        assert "\n" not in str(caught.value)


def test_it_has_scikit_learns_manners() -> None:
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.model_selection import ShuffleSplit, cross_val_score
    from sklearn.pipeline import make_pipeline

    frame, label = table()
    model = cotally.TwoPartyID3Classifier(first=2, max_depth=2)
    with pytest.raises(NotFittedError):
        model.predict(frame)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(max_depth=1).max_depth == 1
    split = ShuffleSplit(1, test_size=0.5, random_state=1)
    assert cross_val_score(make_pipeline(model), frame, label, cv=split).min() > 0.7
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(frame, label[:-1])


def test_an_array_has_columns_of_its_own_names_and_labels_come_back_as_they_were() -> None:
    frame, label = table()
    codes = np.column_stack(
        [frame["work"].map({"desk": 0, "field": 1, "other": 2}), frame["age"].round(), frame["visits"]]
    )
    model = cotally.TwoPartyNaiveBayes(test="1/4").fit(codes, (label == "yes").astype(int))
    assert isinstance(model.model_.model, NaiveBayes)
    predicted = model.predict(codes)
    assert predicted.dtype.kind == "i"
    assert set(predicted) == {0, 1}
    shares = model.predict_proba(codes)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares.argmax(axis=1) == predicted).all()
    assert model.n_features_in_ == 3
    assert "naive Bayes over 3 attributes" in model.text()
    assert model.report_.accuracy is not None
    assert not {"max_depth", "method", "theta"} & model.get_params().keys()


def test_labels_come_back_as_given_and_few_rows_stay_a_class() -> None:
    for labels in few([(0.0, 1.0), (0, 1), ("false", "true"), ("NA", "-"), ("no", "yes "), (False, True)], 6):
        number = np.arange(80)
        frame = pd.DataFrame({"town": np.where(number % 2, "West", "Ost"), "sex": np.where(number // 2 % 2, "f", "m")})
        given = np.array(labels)[number % 2]
        model = cotally.TwoPartyID3Classifier(max_depth=1).fit(frame, given)
        predicted = model.predict(frame)
        assert predicted.tolist() == given.tolist()
        assert predicted.dtype.kind == given.dtype.kind
    frame = pd.DataFrame({"town": ["West", "Ost", "Nord", "Ost"] * 20, "sex": ["f", "f", "m", "m"] * 20})
    given = np.where(frame["town"] == "West", "yes", "no")
    given[:6] = ["rare", "few", "rare", "few", "few", "few"]
    model = cotally.TwoPartyID3Classifier(reveal="counts", max_depth=1).fit(frame, given)
    shares = model.predict_proba(frame)
    assert shares.shape == (80, 4)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(frame)).all()
    assert set(model.predict(frame)) == {"yes", "no"}


@pytest.mark.parametrize("noise", few(["4", None], 2))
def test_a_tree_alone_has_classes_and_no_shares(noise: str | None) -> None:
    frame, label = table()
    model = cotally.TwoPartyID3Classifier(noise=noise, max_depth=2).fit(frame, label)
    assert isinstance(model.model_.model, Tree)
    assert (model.model_.model.growth.noise, model.model_.model.growth.min_leaf) == ((4, 1) if noise else (None, 20))
    assert model.report_.exact_counts_disclosed == 0
    with pytest.raises(ValueError, match="the model has classes alone"):
        model.predict_proba(frame)


def test_texts_and_names_are_as_they_are_given() -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 40, "b": ["u", "v"] * 40})
    for labels in (("yes", "yes "), ("1", "1.0"), (" ", "x")):
        with pytest.raises(ValueError, match="have one text in a file: name them otherwise"):
            cotally.TwoPartyID3Classifier().fit(frame, np.array(labels * 40))
    # Classes drawn at random are no attribute, whatever a column is called: the tree of the renamed table is grown.
    draw = np.random.default_rng(5)
    renamed = pd.DataFrame({name: draw.choice(["m", "f"], 150) for name in ("a", "b", "c", "d")})
    label = draw.integers(0, 2, 150)
    frame = renamed.rename(columns={"d": "class_label", "a": "record_id"})
    first, second = (cotally.TwoPartyID3Classifier(max_depth=1).fit(each, label) for each in (renamed, frame))
    assert second.text().splitlines()[1:] == first.text().splitlines()[1:]
    assert second.predict(frame).tolist() == first.predict(renamed).tolist()
    assert second.model_.model.schema.class_attribute.name != "class_label"


def test_any_data_frame_is_fitted_and_classified_as_pandas_is() -> None:
    frame, label = table()
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    others = [arrow, pytest.importorskip("polars").from_arrow(arrow)]
    model = cotally.TwoPartyID3Classifier(max_depth=2).fit(others[1], label)
    expected = model.predict(frame).tolist()
    assert [model.predict(each).tolist() for each in others] == [expected, expected]
    assert [model.model_.predict(each) for each in (frame, *others)] == [expected] * 3
    with pytest.raises(
        cotally.InputError, match="this is no table that is read: give a data frame of pandas, polars or pyarrow"
    ):
        model.model_.predict({"age": [1]})  # type: ignore[arg-type]


def test_what_programs_import_is_there_with_words_and_without_scikit_learn() -> None:
    for name in cotally.__all__:
        value = getattr(cotally, name)
        assert value.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cotally.nothing
    program = "import sys; sys.modules['sklearn'] = None; import cotally; print(cotally.load_model.__name__)"
    path = f"{ROOT}:{ROOT / 'party' / 'api'}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "load_model\n"), done.stderr


EXAMPLES = ROOT / "scripts" / "examples"
SAYS = {
    "two_parties.ipynb": ["accuracy on held-out records: 0.", "0 exact counts crossed", "What bob learned from us:"],
    "survey.ipynb": ["estimated from disguised answers: 0.", "income [low, high]", "in truth: 0."],
}


def read(name: str) -> Any:
    """Return a notebook, which is one and holds no results."""
    nbformat = import_module("nbformat")  # Jupyter leaves it nearly untyped
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)
    return notebook


def told(notebook: Any) -> str:
    """Return what all cells have printed."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
    return "".join(output.text for output in outputs if output.output_type == "stream")


def test_every_notebook_has_its_test() -> None:
    assert {path.name for path in EXAMPLES.glob("*.ipynb")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_the_cells_of_a_notebook_run_in_their_order(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over fewer people than it has."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for cell in read(name).cells:
        if cell.cell_type == "code":
            exec(cell.source.replace("3000", "600").replace("2500", "500"), names)
    said = capsys.readouterr().out
    assert [words for words in SAYS[name] if words not in said] == []


@pytest.mark.full
@pytest.mark.parametrize("name", SAYS)
def test_a_notebook_runs_to_its_end(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "party" / "api")])
    monkeypatch.setenv("PYTHONPATH", paths)
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    notebook = read(name)
    place = {"metadata": {"path": tmp_path}}
    import_module("nbclient").NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    for words in SAYS[name]:
        assert words in told(notebook)
