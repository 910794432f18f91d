"""One table of counts: a column of one party by a column of the other (DESIGN 14), as a role.

    columns      each side names its column and its values, commits to it, and shows that it lists the same people
    memory       a table that both remember is not opened again
    transfers    a session of them
    cells        their shares, opened with noise of both sides, two-sided geometric of scale `2 / epsilon`, or exactly

One record moves from one cell to another at most, so a table with noise is (ε, δ)-differentially private against each
side, as that of held-out records (`secret_tree.held_out`). The noise follows from the two columns, the people and the
epsilon: the same question has the same noise, whichever side asks; another spends its own epsilon. Small cells are
not suppressed: each side knows its own margin, from which they follow.

*Deviations*: who sends its share last makes the table another one, as it may by another column, and the other side sees
whether that adds up to its own counts. Who stops before it sends keeps the table to itself. Who sends numbers in the
place of bits reads by each cell, for certain and whatever epsilon is, as many people as `facts_read` says: noise takes
a few bits of a cell, of the first opening alone where runs are ended. A side that brings another column under the
commitment of an earlier one gets the same noise again, and learns the difference: the third opening that does not end
is the last.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from protocols.answers import AnswerNumbers
from protocols.counting.oblivious import sides_of
from protocols.errors import DeviationError, InputError
from protocols.facts import CrosstabFact
from protocols.jobs import CrosstabTerms
from protocols.messages import Share
from protocols.noise.both import KeyedNoise
from protocols.noise.geometric import Geometric
from protocols.oblivious.extension import TREE_DEPTH, set_up
from protocols.randomness import keyed_digest
from protocols.role import Kept, Note, Role, nothing
from protocols.secret_tree.held_out import noise_of_table, open_cells, room_for_table
from protocols.secret_tree.shares import SharedCounts
from protocols.tables import Attribute, Expression, Schema, Term, joint_schema
from protocols.two_party.agreement import share_columns, shared_attribute
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.memory import resume
from protocols.two_party.noise import digest_of_tables
from protocols.two_party.objections import DECIDED, Objection, settle


@dataclass(frozen=True, repr=False)
class Crossed:
    """What both know when they have agreed on a table.

    `local` brings our column alone; `schema` has that of the first party's name as its attribute, the other as class.
    """

    terms: CrosstabTerms
    local: PartyInputs
    schema: Schema
    peer: str
    commitment: bytes
    nonces: bytes

    @property
    def sizes(self) -> tuple[int, int]:
        """How many values the columns have, that of the first party's name first."""
        first, second = self.schema.columns
        return first.size, second.size

    @property
    def cells(self) -> int:
        """How many counts there are."""
        first, second = self.sizes
        return first * second

    @property
    def law(self) -> Geometric | None:
        """The noise of each side in each cell; None for none."""
        return None if self.terms.noise is None else noise_of_table(self.terms.noise)

    @property
    def lowest(self) -> int:
        """The most that both sides' noise may take from a cell."""
        return 0 if self.law is None else 2 * self.law.cut

    @property
    def _tables(self) -> bytes:
        return digest_of_tables(self.local, self.schema, self.peer, self.commitment)

    @property
    def question(self) -> bytes:
        """A digest, under our secret, of all that decides the table: two that are equal in it are one."""
        return keyed_digest(self.local.secrets.coins, b"crosstab", str(self.terms.noise).encode(), self._tables)

    def noise(self) -> list[int]:
        """Return our noise, cell by cell: the same whenever it is asked."""
        if self.law is None:
            return [0] * self.cells
        return KeyedNoise(self.local.secrets.coins, self._tables).of_model(self.law, self.cells, b"crosstab", ())

    def adds_up(self, cells: AnswerNumbers) -> bool:
        """Return whether these may be the cells, as far as our own column shows."""
        own = next(place for place, each in enumerate(self.schema.columns) if each.party == self.local.party)
        if len(cells) != self.cells or min(cells) < -self.lowest:
            return False
        margin = np.reshape(cells, self.sizes).sum(1 - own)
        counts = np.bincount(self.local.table.codes[:, 0], minlength=self.sizes[own])
        return bool((np.abs(margin - counts) <= self.lowest * self.sizes[1 - own]).all())


CrosstabJudge = Callable[[Crossed], Objection | None]


def agree_on_crosstab(
    local: PartyInputs,
    terms: CrosstabTerms,
    peer: str,
    nonces: bytes,
    *,
    initiates: bool,
    judge: CrosstabJudge = nothing,
) -> Role[Crossed]:
    """Compare what both bring to a table; `judge` objects to it before anything that depends on it leaves.

    Discloses: the name of our column, its values, and what `share_columns` says.
    """
    own = local.bringing_column(terms.column_of(initiates=initiates))
    share, commitment, flaw = yield from share_columns(own, peer, nonces)
    judged = flaw or _judge_column(own, share, terms.column_of(initiates=not initiates), peer)
    brought = yield from settle(judged, own)
    first, second = sorted([*own.attributes, brought], key=lambda each: each.party)
    agreed = Crossed(terms, own, joint_schema([first], second, [second.party]), peer, commitment, nonces)
    yield from settle(judge(agreed), people=DECIDED)
    return agreed


def _judge_column(own: PartyInputs, share: Share, wanted: str, peer: str) -> Attribute | Objection:
    if [each.name for each in share.attributes] != [wanted] or share.class_values is not None or share.groups:
        return Objection("columns", "the peer brings another column than the job names")
    (column,) = share.attributes
    many = own.limits.refuse_columns({column.name: len(column.values)})
    try:
        return shared_attribute(peer, column) if many is None else Objection(*many)
    except InputError as error:
        return Objection("columns", str(error))


def count_crosstab(agreed: Crossed, kept: Kept) -> Role[tuple[int, ...]]:
    """Return the cells, for each value of the schema's attribute those of all values of its class.

    `kept` is what we remember of this very table.

    Discloses: the counts, with our noise in them unless the terms have none; whether we remember them.
    """
    resumed = yield from resume(kept, agreed.nonces, opens_once=True)
    cells = yield from resumed.answers.ask(_opened(agreed), agreed.adds_up)
    return tuple(map(int, cells))


def _opened(agreed: Crossed) -> Role[AnswerNumbers]:
    """Count the cells on shares, and open them."""
    local, schema = agreed.local, agreed.schema
    chooser = schema.attributes[0].party
    codes = np.zeros((len(local.records), 2), np.uint8, order="F")
    codes[:, 0 if chooser == local.party else 1] = local.table.codes[:, 0]
    transfers = yield from set_up(TREE_DEPTH, local.secrets.randomness, local.computing.places)
    room = 0 if agreed.law is None else room_for_table(agreed.law)
    counts = SharedCounts(sides_of(schema, chooser), codes, transfers, is_chooser=chooser == local.party, room=room)
    pairs = product(*map(range, agreed.sizes))
    shares = yield from counts.count([Expression((Term(0, row), Term(1, column))) for row, column in pairs])
    yield Note(CrosstabFact())
    cells = yield from open_cells(shares, counts.width, agreed.noise(), agreed.lowest)
    numbers = tuple(map(float, cells))
    if not agreed.adds_up(numbers):
        raise DeviationError
    return numbers
