"""Two parties in one process, with scikit-learn's interface: to try out what a run over columns of both would give.

`fit` deals the columns to two parties, gives each a folder with keys, settings and its own half, and lets them run the
real protocol over mutual TLS on this machine; nothing is simulated. What the other side would learn is in the ledgers.
It takes what a run takes: seconds, or by Paillier minutes to hours.
"""

import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pandas import DataFrame
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from party.data import csv_text
from party.data.texts import plain_text
from party.demo.folders import ANYTHING
from party.demo.processes import free_port
from party.learn.sources import as_value_error
from party.programs.party import LoadedModel, Party, PartyRun, load_model
from party.records.run_file import TrainReport
from party.settings.job import read_job
from party.settings.toml import toml_file
from party.survey.table import DataFrameLike, as_frame
from protocols.errors import InputError
from protocols.terms import BITS, DEPTH, KEY_FLOOR, NOISE, USUAL_TREE_DEPTH, Learner, Reveal, Splits

_PARTIES = ("alice", "bob")
_HOST = "127.0.0.1"
_ID, _CLASS = "record_id", "class_label"  # unless a column has that name


@dataclass(kw_only=True, eq=False, repr=False)
class _TwoPartyClassifier(ClassifierMixin, BaseEstimator):
    """Both parties' sides of a run; what is learned, and with which limits, the classes below say."""

    learner: ClassVar[Learner]
    model_: LoadedModel = field(init=False)
    run_: PartyRun = field(init=False)
    first: int | Sequence[str] | None = None
    counting: str = "oblivious_transfer"
    min_leaf: int | None = None
    max_values: int = 4
    seed: int = 0
    test: str = "0"

    def _terms(self) -> dict[str, object]:
        """Return the terms of a job that this learner has alone."""
        return {"method": "smc", "reveal": "counts"}

    def _disguise(self) -> dict[str, object]:
        """Return a party's settings on its copy."""
        return {}

    def fit(self, X: Any, y: ArrayLike) -> Self:  # noqa: N803  # scikit-learn's names
        """Let both parties learn; ValueError says why they cannot run on these data or parameters.

        Args:
            X: A data frame of pandas, polars or pyarrow, or an array whose columns get the names x0, x1, ...
            y: The class of each row.
        """
        target = column_or_1d(y)
        check_classification_targets(target)
        self.classes_ = np.unique(target)
        with as_value_error(), tempfile.TemporaryDirectory(prefix="cotally-") as folder:
            table = as_frame(_named(X))
            check_consistent_length(table.lines, target)
            names = list(table.columns)
            self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
            mine = self._of_alice(names)
            halves = {"alice": mine, "bob": [name for name in names if name not in mine]}
            for name in names:
                table.column(name)  # a cell that no file can hold is refused here
            cells = dict(zip(names, map(list, table.cells), strict=True))
            self._id, self._class = _unused(_ID, names), _unused(_CLASS, names)
            texts = {label: text for text, label in self._labels().items()}
            self._learn(Path(folder), halves, {**cells, self._class: [texts[label] for label in target.tolist()]})
        return self

    def _labels(self) -> dict[str, Any]:
        """Return each label by the text that stands for it in a file, and so in the model."""
        labels = {plain_text(str(label)): label for label in self.classes_.tolist()}
        if len(labels) < len(self.classes_) or "" in labels:
            raise InputError("two classes, or one and a missing cell, have one text in a file: name them otherwise")
        return labels

    def _of_alice(self, names: Sequence[str]) -> list[str]:
        if self.first is None or isinstance(self.first, int):
            return list(names[: (len(names) + 1) // 2 if self.first is None else self.first])
        unknown = [name for name in self.first if name not in names]
        if unknown:
            raise ValueError(f"first: X has no column {unknown[0]!r}")
        return list(self.first)

    def _learn(self, folder: Path, halves: dict[str, list[str]], cells: dict[str, list[str | None]]) -> None:
        job = folder / "job.toml"
        job.write_text(self._job(), encoding="utf-8")
        epsilon = read_job(job).terms.epsilon  # a parameter that no run can have is refused before keys are made
        port = free_port()
        parties = {name: self._make(folder, name, port, epsilon) for name in _PARTIES}
        for name, columns in halves.items():
            held = [*columns, self._class] if name == "alice" else columns
            rows = zip(*(cells[column] for column in held), strict=True)
            text = csv_text([self._id, *held], [[str(number), *row] for number, row in enumerate(rows)])
            (folder / name / "data.csv").write_text(text, encoding="utf-8")
        for name, other in (_PARTIES, _PARTIES[::-1]):
            parties[name].trust(folder / other / "cert.pem")
        for party in parties.values():
            party.check(job)
        # NB: if Bob fails before he calls, the port is closed, which ends Alice's waiting, before the pool is
        with ThreadPoolExecutor(1) as pool, parties["alice"].listening() as alice:
            answered = pool.submit(alice.answer)
            self.run_ = parties["bob"].train(job)
            answered.result()
        self.model_ = load_model(self.run_.path)
        self.disclosures_ = {name: parties[name].disclosures() for name in _PARTIES}

    def _make(self, folder: Path, name: str, port: int, epsilon: Fraction | None) -> Party:
        other, holds_class = _PARTIES[name == "alice"], name == "alice"
        kept = {"missing": "refuse", "not_missing": [*self._labels()], "smallest_value": 1}  # every label is a value
        address = f"{_HOST}:{port}"
        settings: dict[str, dict[str, object]] = {
            "": {"name": name},
            "data": {"file": "data.csv", "id": self._id, "class": self._class if holds_class else None},
            "columns": {**({self._class: kept} if holds_class else {}), "*": {"max_values": self.max_values}},
            "disguise": self._disguise(),
            "agree": {
                **ANYTHING,
                "smallest_class": 1,
                "exact_counts": True,
                "min_leaf": 1,
                "epsilon": None if epsilon is None else NOISE.text(epsilon),
                "smallest_key_bits": KEY_FLOOR,
            },
            "node": {"peer": other, "listen" if holds_class else "address": address},
        }
        return Party.create(folder / name, name, (_HOST,), settings=toml_file(settings), key_bits=KEY_FLOOR)

    def _job(self) -> str:
        of_all = {"counting": self.counting, "class": self._class, "seed": self.seed, "test": self.test}
        own = {"key_bits": KEY_FLOOR, "learner": self.learner, "min_leaf": self.min_leaf}
        return toml_file({"": {**of_all, **own, **self._terms()}})

    @property
    def report_(self) -> TrainReport:
        """What the run cost, and its accuracy on held-out records, if any."""
        return self.run_.report

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the class of each row of all columns; X must have those that the model reads."""
        check_is_fitted(self)
        labels = self._labels()
        with as_value_error():
            return np.array([labels[label] for label in self.model_.predict(_named(X))])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the shares of the classes, in the order of `classes_`."""
        check_is_fitted(self)
        with as_value_error():
            shares = self.model_.predict_proba(_named(X))
        place = {label: column for column, label in enumerate(self.model_.classes)}
        text = {label: text for text, label in self._labels().items()}
        return shares[:, [place[text[label]] for label in self.classes_.tolist()]]

    def text(self) -> str:
        """Return the model for people to read."""
        check_is_fitted(self)
        return self.model_.text()


@dataclass(kw_only=True, eq=False, repr=False)
class TwoPartyID3Classifier(_TwoPartyClassifier):
    """ID3 that two parties grow over columns that neither shows the other, by default the tree alone (DESIGN 16).

    Alice has the first columns and the class, Bob the rest. Cells are read as in files: numbers are binned, rare values
    merged.

    Args:
        first: How many columns are Alice's, or their names; None for half of them.
        reveal: "tree", and nothing else is opened; or "counts".
        noise: The epsilon of the noise against each side, as a number in text; None for none.
        method: "smc", or "hybrid" or "randomized", which send copies.
        omega: How many of the best-ranked attributes of "hybrid" are counted exactly at a node, or "all".
        theta: The chance that a two-valued column is sent truly, as a fraction in text; not 1/2.
        counting: How exact counts are made: "oblivious_transfer", or "paillier".
        max_depth: Most splits of a path; None for any.
        min_leaf: Fewest records of a leaf of its own; None for what a job has that names none.
        max_values: Most values of a column: the rarest become one, numbers are binned into as many.
        groups: How many coins each side's columns share, as in the papers; None for a coin of its own for each.
        seed: Of the split, where records are held out.
        test: The share of the records that is held out, as a fraction in text: `run_.report` then has the accuracy.
    """

    learner = Learner.TREE
    method: str = "smc"
    omega: int | str = 3
    theta: str = "2/3"
    reveal: str = "tree"
    noise: str | None = None
    max_depth: int | None = USUAL_TREE_DEPTH
    groups: int | None = None

    def _terms(self) -> dict[str, object]:
        is_bounded = self.reveal == Reveal.TREE and self.noise is None
        return {
            "method": self.method,
            "theta": self.theta,
            "omega": self.omega,
            "reveal": self.reveal,
            "splits": Splits.VALUES,
            "max_depth": DEPTH.text(self.max_depth) if self.max_depth is None else self.max_depth,
            "noise": self.noise,
            "most_bits": BITS.high if is_bounded else None,  # nobody is on the other side
        }

    def _disguise(self) -> dict[str, object]:
        return {"groups": self.groups}


class TwoPartyNaiveBayes(_TwoPartyClassifier):
    """Naive Bayes that two parties learn from columns that neither shows the other by exact counts alone (DESIGN 7.8).

    Alice has the first columns and the class, Bob the rest. Cells are read as in files: numbers are binned, rare values
    merged.

    Args:
        first: How many columns are Alice's, or their names; None for half of them.
        counting: How exact counts are made: "oblivious_transfer", or "paillier".
        min_leaf: A limit of trees, which naive Bayes does not look at.
        max_values: Most values of a column: the rarest become one, numbers are binned into as many.
        seed: Of the split, where records are held out.
        test: The share of the records that is held out, as a fraction in text: `run_.report` then has the accuracy.
    """

    learner = Learner.NAIVE_BAYES


def _unused(name: str, taken: Sequence[str]) -> str:
    """Return a name, with as many underscores behind it as make it one that no column has."""
    while name in taken:
        name += "_"
    return name


def _named(X: Any) -> DataFrameLike:  # noqa: N803
    """Return a DataFrame as it is, and an array with names of its columns."""
    if hasattr(X, "columns"):
        named: DataFrameLike = X
        return named
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: reshape your data")
    made: DataFrameLike = DataFrame({f"x{column}": array[:, column] for column in range(array.shape[1])})
    return made
