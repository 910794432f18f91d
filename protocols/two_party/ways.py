"""How rows are classified by each kind of model: what a row may come out as, and both sides' parts (DESIGN 13).

a tree         one sum per row over the branches that the asker takes (`learning.routes`)
naive Bayes    comparisons of classes in an order that the answerer draws (`comparing`), then one sum per row that
               tells which class stands at the winner's place
"""

from dataclasses import dataclass

import numpy as np

from protocols.ciphers.port import AnyCiphertexts, AnyKeyHolder
from protocols.errors import InputError
from protocols.learning.contest import Contest
from protocols.learning.models import Model
from protocols.learning.naive_bayes import NaiveBayes
from protocols.learning.routes import Routes, RowOutcome
from protocols.learning.tree import Tree
from protocols.role import Role
from protocols.tables.arrays import Index
from protocols.tables.table import Rows
from protocols.two_party.comparing import learn_places, tell_places
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.row_sums import RowPages, ask_row_sums, tell_row_sums


@dataclass(frozen=True, repr=False)
class TreeWay:
    """Rows by a tree.

    Discloses: what `row_sums` says; a sum is the position of the row's outcome.
    """

    routes: Routes
    local: PartyInputs

    @property
    def outcomes(self) -> tuple[RowOutcome, ...]:
        """What a row may come out as."""
        return self.routes.outcomes

    def ask(self, codes: Rows, key: AnyKeyHolder) -> Role[list[int]]:
        """Return the position of each row's outcome."""
        layout = self._layout(codes)
        return (yield from ask_row_sums(layout, lambda rows: self.routes.bits(codes[rows]), key, self.local))

    def tell(self, codes: Rows, cipher: AnyCiphertexts) -> Role[None]:
        """Answer for these rows."""
        layout = self._layout(codes)
        yield from tell_row_sums(layout, lambda rows: self.routes.weights(codes[rows]), cipher, self.local)

    def _layout(self, codes: Rows) -> RowPages:
        return RowPages(len(codes), self.routes.edges, len(self.outcomes) - 1)


@dataclass(frozen=True, repr=False)
class BayesWay:
    """Rows by naive Bayes.

    Discloses: what `comparing` says, then what `row_sums` says; a sum is the class at the place that the asker has
        named, which it would, could it name several.
    """

    contest: Contest
    classes: int
    local: PartyInputs

    @property
    def outcomes(self) -> tuple[RowOutcome, ...]:
        """What a row may come out as: any class."""
        return tuple(RowOutcome(label) for label in range(self.classes))

    def ask(self, codes: Rows, key: AnyKeyHolder) -> Role[list[int]]:
        """Return the class of each row."""
        places = yield from learn_places(self.contest, codes, key, self.local)
        every = np.arange(len(self.contest.classes))
        layout = self._layout(codes)
        return (yield from ask_row_sums(layout, lambda rows: places[rows, None] == every, key, self.local))

    def tell(self, codes: Rows, cipher: AnyCiphertexts) -> Role[None]:
        """Answer for these rows."""
        labels = self.contest.classes[(yield from tell_places(self.contest, codes, cipher, self.local))]

        def weights(rows: Index) -> tuple[Index, np.ndarray[tuple[int, ...], np.dtype[np.int32]]]:
            return np.zeros(len(rows), dtype=np.intp), labels[rows].astype(np.int32)

        yield from tell_row_sums(self._layout(codes), weights, cipher, self.local)

    def _layout(self, codes: Rows) -> RowPages:
        return RowPages(len(codes), len(self.contest.classes), self.classes - 1)


ModelWay = TreeWay | BayesWay


def check_shared(model: Model, parties: tuple[str, str]) -> None:
    """Make sure that two parties can classify rows together by a model.

    Raises:
        InputError: A column that it reads is of somebody else, or it is no model of two parties.
    """
    owners = {model.schema.attributes[column].party for column in model.columns}
    if not owners <= set(parties):
        raise InputError(f"the model reads columns of others than {' and '.join(parties)}")
    if isinstance(model, NaiveBayes):
        Contest(model, parties[0])


def way_of(model: Model, asker: str, local: PartyInputs, *, probabilities: bool) -> ModelWay:
    """Return how one party asks the other for the classes of rows by a model.

    Raises:
        InputError: Not by this model, or not with the shares of the classes.
    """
    if isinstance(model, Tree):
        return TreeWay(Routes(model, asker, probabilities=probabilities), local)
    if probabilities:
        raise InputError(NO_SHARES)
    return BayesWay(Contest(model, asker), model.schema.classes, local)


NO_SHARES = (
    "shares of the classes by naive Bayes would tell the other side's columns of each row: ask for the classes alone, "
    "or classify where all columns are in one file"
)
