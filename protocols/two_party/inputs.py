"""What a party brings to a run: its records, its secrets, its groups and its limits on what may be revealed.

The limits say how few records may stand behind anything that a run reveals, and what a peer may bring (DESIGN 14,
"Class first"). A partner chooses its own columns. A class that names people would make every exact count a record of
the other side, and an accuracy over one held-out record gives that record away; so each side refuses both, from
anybody. A class value that no training record has is refused like a rare one: all who have it are held out, and their
number is small.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Annotated

import numpy as np

from protocols.ciphers.port import AnyKeyHolder
from protocols.errors import InputError
from protocols.identifiers import USUAL_FORM, IdForm
from protocols.kinds import Between
from protocols.messages import Share, SharedColumn
from protocols.privacy.attack import Disclosure, disclosure, read_rows
from protocols.randomized_response.related_question import Coins, RelatedDesign, compared_draw, disguise, keyed_draw
from protocols.randomness import Randomness, canonical, keyed_digest, public_order
from protocols.tables import MAX_DOMAIN, Attribute, Index, Table
from protocols.terms import LEAF, NO_CLASS, OMEGA, Terms
from protocols.work import Compute, InlineWorkers


@dataclass(frozen=True)
class Limits:
    """The most classes, the fewest training records per class, the fewest records held out, unless none.

    `most_values` of each column and `most_columns` are what a peer may bring where no count of a model is revealed.
    """

    max_classes: Annotated[int, Between(2, MAX_DOMAIN)] = 20
    smallest_class: Annotated[int, LEAF] = 10
    smallest_test: Annotated[int, LEAF] = 30
    most_values: Annotated[int, Between(2, MAX_DOMAIN)] = 16
    most_columns: Annotated[int, Between(1, OMEGA.high)] = 32

    def refuse_classes(self, classes: int) -> str | None:
        """Return why a class of this many values is refused, and what to do; None if it is accepted."""
        if classes < 2:
            return "all records have one class, so there is nothing to predict: choose another class"
        if classes <= self.max_classes:
            return None
        return (
            f"the class has {classes} values, our [agree] max_classes allows {self.max_classes}: "
            "choose another class, or merge values ([columns] max_values)"
        )

    def refuse_counts(self, counts: Sequence[int], values: Sequence[str]) -> str | None:
        """Return why classes of these sizes are refused, and what to do; None if they are accepted."""
        rare = [repr(value) for value, count in zip(values, counts, strict=True) if count < self.smallest_class]
        if not rare:
            return None
        return (
            f"{len(rare)} of {len(counts)} class values have fewer than {self.smallest_class} training records (our "
            f"[agree] smallest_class), {', '.join(rare[:3])}: merge them ([columns] max_values)"
        )

    def refuse_test(self, held_out: int) -> str | None:
        """Return why this number of held-out records is refused, and what to do; None if it is accepted."""
        if not 0 < held_out < self.smallest_test:
            return None
        return (
            f"{held_out} records would be held out, our [agree] smallest_test asks for {self.smallest_test}: "
            "hold out more, or none (test = 0)"
        )

    def refuse_columns(self, sizes: Mapping[str, int]) -> tuple[str, str] | None:
        """Return which limit refuses a peer's columns of these many values, and why; None if they are accepted."""
        asks = "more say more of single people: ask it to"
        if len(sizes) > self.most_columns:
            few = f"our [agree] most_columns allows {self.most_columns} where no count is revealed"
            return "most_columns", f"the peer brings {len(sizes):,} columns, {few}: {asks} leave some out (ignore)"
        if (most := max(sizes.values(), default=0)) > self.most_values:
            few = f"our [agree] most_values allows {self.most_values} here"
            many = f"the peer's column {max(sizes, key=sizes.__getitem__)!r} has {most:,} values"
            return "most_values", f"{many}, {few}: {asks} merge some (max_values)"
        return None


USUAL_LIMITS = Limits()


@dataclass(frozen=True, repr=False)
class Secrets:
    """What never leaves: the key of the coins, the key of counts, and the source of secret chance."""

    coins: bytes
    key: AnyKeyHolder
    randomness: Randomness


@dataclass(frozen=True, repr=False)
class PartyInputs:
    """One party's side of a run.

    Args:
        table: Its attributes in file order, then the class where it holds one (`holds_class`).
        records: Record ids, in the order of the table, which is the same at both parties: ascending.
        groups: Columns that share a coin, as indices into `table`; others are sent as they are.
        dataset: The owner's name for the data set, under which its coins are made.
        compute: Where heavy arithmetic is done; in this process unless given.
        form: The normal form in which the ids are.
        listed: How many people its file lists, of whom these may be the common ones; as many as these unless given.
        source: A digest of the table of all whom the file lists, where these are the common ones.
    """

    party: str
    table: Table
    holds_class: bool
    records: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    dataset: str
    secrets: Secrets
    compute: Compute | None = None
    limits: Limits = USUAL_LIMITS
    form: IdForm = USUAL_FORM
    listed: int = 0
    source: bytes = b""

    def __post_init__(self) -> None:
        if not self.records or len(self.records) != len(self.table):
            raise InputError("a table needs records, and one id for each")
        columns = len(self.table.attributes)
        if not all(0 <= column < columns for group in self.groups for column in group):
            raise InputError(f"a group names an unknown column: columns are 0 to {columns - 1}")
        object.__setattr__(self, "listed", self.listed or len(self.records))

    def bringing_people(self, people: Sequence[str]) -> "PartyInputs":
        """Return what the party brings of these people alone, in this order: the same columns, with the same values.

        Names of values and bins follow from all people that the file lists, not from who is common: a peer that chooses
        its list would learn from them what a few people have.
        """
        row_of = {each: row for row, each in enumerate(self.records)}
        rows = self.table.rows([row_of[each] for each in people])
        return replace(self, table=rows, records=tuple(people), source=self.whole_digest)

    @property
    def whole_digest(self) -> bytes:
        """A digest, under our secret, of the table of all whom the file lists, be these all of them or the common."""
        return self.source or self.digest(b"whole table")

    def bringing_column(self, name: str) -> "PartyInputs":
        """Return what the party brings where one column of its table is counted, be that its class."""
        (column,) = (at for at, each in enumerate(self.table.attributes) if each.name == name)
        table = Table((self.table.attributes[column],), np.ascontiguousarray(self.table.codes[:, [column]]))
        return replace(self, table=table, holds_class=False, groups=())

    def bringing_ids(self, ids: Sequence[str]) -> "PartyInputs":
        """Return what the party brings where only ids are compared: these, and no column."""
        table = Table((), np.empty((len(ids), 0), dtype=np.uint8))
        return replace(self, table=table, holds_class=False, records=tuple(ids), groups=())

    @property
    def computing(self) -> Compute:
        """Where heavy arithmetic is done."""
        inline = Compute(lambda key: key.encryption(self.secrets.randomness), InlineWorkers())
        return self.compute or inline

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes without the class."""
        return self.table.attributes[:-1] if self.holds_class else self.table.attributes

    def bringing(self, terms: Terms) -> "PartyInputs":
        """Return what we bring to a run on these terms: to rules all columns alike, and a class that everyone has.

        Where a tree or sets alone are revealed, columns go by their names: of equal ones the first splits a node, or is
        asked about, so another order of the same columns would be another question.
        """
        everyone = Attribute(self.party, NO_CLASS, (NO_CLASS,))
        if terms.rules is not None and self.class_attribute != everyone:
            codes = np.concatenate([self.table.codes, np.zeros((len(self.table), 1), dtype=np.uint8)], axis=1)
            table = Table((*self.table.attributes, everyone), codes)
            return replace(self, table=table, holds_class=True).bringing(terms)
        return self._by_names() if terms.hides_counts else self

    def _by_names(self) -> "PartyInputs":
        names = [each.name for each in self.attributes]
        order = sorted(range(len(names)), key=names.__getitem__)
        order += [len(names)] * self.holds_class
        place = {column: at for at, column in enumerate(order)}
        groups = tuple(tuple(sorted(place[column] for column in group)) for group in self.groups)
        table = Table(
            tuple(self.table.attributes[column] for column in order), np.ascontiguousarray(self.table.codes[:, order])
        )
        return replace(self, table=table, groups=groups)

    @property
    def class_attribute(self) -> Attribute | None:
        """The class, if held."""
        return self.table.attributes[-1] if self.holds_class else None

    def class_counts(self, train: Index) -> tuple[int, ...]:
        """Return how many of these records each class has; the class is the last column of the table."""
        labels = self.table.codes[train, -1]
        return tuple(np.bincount(labels, minlength=self.table.attributes[-1].size).tolist())

    @property
    def classes_listed(self) -> Mapping[str, int]:
        """How many records of ours each class has; none where the class is the peer's."""
        if self.class_attribute is None:
            return {}
        counts = self.class_counts(np.arange(len(self.records)))
        return dict(zip(self.class_attribute.values, counts, strict=True))

    def sent_columns(self, class_is_shared: bool) -> tuple[int, ...]:
        """Columns of `table` of which the peer gets a disguised copy: all but a class that both hold."""
        return tuple(range(len(self.attributes) + (self.holds_class and not class_is_shared)))

    def design(self, theta: Fraction, class_is_shared: bool) -> RelatedDesign:
        """Return the disguise of the columns that are sent."""
        whole = RelatedDesign.of_odds(tuple(attribute.size for attribute in self.table.attributes), self.groups, theta)
        return whole.of_first(len(self.sent_columns(class_is_shared)))

    def coins(self, design: RelatedDesign) -> Coins:
        """Return the coins of all records under this design: the same whenever asked (DESIGN 4.6, 14).

        A group's coin comes from the names of its columns, the class among them even if it is not sent, and from its
        full number of offsets, whatever their order; only what the sent columns can show of it counts. So each column
        of a data set has one disguised copy.
        """
        whole = self.design(design.theta, class_is_shared=False)
        if design.theta not in self._tossed:
            attributes = self.table.attributes
            columns = ([attributes[column].name.encode() for column in group] for group in whole.groups)
            names = [canonical(b"group", *sorted(each)) for each in columns]
            draw = keyed_draw(self.secrets.coins, self.dataset, self.records)
            self._tossed[design.theta] = whole.coins(draw, names)
        coins = self._tossed[design.theta]
        sent = [next(k for k, group in enumerate(whole.groups) if part[0] in group) for part in design.groups]
        return coins[:, sent] % np.array(design.orders, dtype=np.uint8)

    def disclosed(self, design: RelatedDesign) -> Disclosure | None:
        """Return what the receiver of our copy under this design reads of our records (DESIGN 10); None for nothing."""
        looked, part = read_rows(len(self.records)), self
        if len(looked) < len(self.records):
            records = tuple(self.records[row] for row in looked.tolist())
            part = replace(self, table=self.table.rows(looked), records=records)
        codes = part.table.codes[:, : len(design.sizes)]
        chance = compared_draw(self.secrets.coins, self.dataset, len(looked))
        return disclosure(codes, disguise(codes, part.coins(design), design), design, chance)

    @cached_property
    def _tossed(self) -> dict[Fraction, Coins]:
        """All coins by theta, once they were asked for: a run looks at its copy before it sends it."""
        return {}

    @cached_property
    def _digests(self) -> dict[bytes, bytes]:
        """Digests by purpose, once they were asked for."""
        return {}

    def share(self) -> Share:
        """Describe our part of the schema."""
        class_attribute = self.class_attribute
        return Share(
            records=len(self.table),
            attributes=tuple(
                SharedColumn(each.name, each.values, each.missing.value, each.missing.marks, each.ordered)
                for each in self.attributes
            ),
            class_values=class_attribute.values if class_attribute else None,
            groups=self.groups,
        )

    def digest(self, purpose: bytes) -> bytes:
        """Return a digest of ids, names, values and cells that nobody without our secret can check a guess against.

        The order of the columns does not matter; the same table always has the same digest, and each purpose its own.
        """
        if purpose not in self._digests:
            codes = self.table.codes
            columns = sorted(
                canonical(a.name.encode(), canonical(*(value.encode() for value in a.values)), codes[:, c].tobytes())
                for c, a in enumerate(self.table.attributes)
            )
            records = canonical(*(record.encode() for record in self.records))
            self._digests[purpose] = keyed_digest(self.secrets.coins, purpose, records, *columns)
        return self._digests[purpose]

    @property
    def class_column(self) -> bytes:
        """The codes of the class of all records."""
        return self.table.codes[:, -1].tobytes()


def held_out_records(records: int, share: Fraction) -> int:
    """Return how many records a share holds out."""
    return floor(records * share)


def training_records(records: int, terms: Terms) -> int:
    """Return how many records are trained on."""
    return records - held_out_records(records, terms.test)


def split_records(seed: int, records: int, test: Fraction) -> tuple[Index, Index]:
    """Return indices of training and test records, each ascending."""
    order = np.array(public_order(seed, records), dtype=np.intp)
    tested = held_out_records(records, test)
    return np.sort(order[tested:]), np.sort(order[:tested])
