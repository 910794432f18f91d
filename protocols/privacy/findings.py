"""All measures of one attribute, of one group and of a record, gathered for a report (DESIGN 10)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from protocols.errors import InputError
from protocols.privacy.entry import (
    Breach,
    Entry,
    MatrixRow,
    Prior,
    Rise,
    breach,
    entropy_before,
    entropy_left,
    entry_of,
    group_coin_entropy,
    largest_rise,
    record_coin_entropy,
    repeated_level,
)
from protocols.privacy.loss import (
    Odds,
    Relation,
    attribute_loss,
    column_odds,
    disclosed_columns,
    group_loss,
    known_answers_loss,
    record_loss,
    relations,
)
from protocols.privacy.single_entry import given_away, group_value, single_entry
from protocols.randomized_response.design import Design, Kind, OneKind


@dataclass(frozen=True)
class Measures:
    """What the response of one attribute does by itself.

    `breach` is the largest posterior, `twice` the same if the response came twice with fresh coins, `rise` the largest
    rise of a belief, `single_entry` the expected chance on a wrong value before mining, `bits_left` the mean entropy.
    """

    breach: Breach
    rise: Rise
    twice: Fraction
    single_entry: Fraction
    bits_left: float


@dataclass(frozen=True)
class AttributeFindings:
    """What responses disclose of one attribute.

    Args:
        group: Index of its group; None if it is sent as it is.
        assumed: Whether the prior is an assumption: all values equally likely.
        posteriors: For each response, the chance of each value; None for a response that is never given.
        own: What its own response alone does.
        loss: Epsilon of this attribute alone.
        odds: Of its own value against any one other, in the response that speaks most clearly.
        bits_before: Entropy of the prior.
    """

    name: str
    values: tuple[str, ...]
    group: int | None
    assumed: bool
    prior: MatrixRow
    responses: MatrixRow
    posteriors: tuple[MatrixRow | None, ...]
    own: Measures
    loss: float
    odds: Odds
    bits_before: float

    @property
    def hides(self) -> bool:
        """Whether it is disguised and has something to disclose: more than one value."""
        return self.group is not None and len(self.values) > 1


@dataclass(frozen=True)
class GroupFindings:
    """What responses disclose of the attributes that share a coin, taken together; how much is read: `attack.py`.

    Args:
        truth: Chance that it tells the truth.
        single_entry: The smallest of its entries, before mining.
        loss: Epsilon of the group as a whole.
        loss_if_known: The same against someone who knows a personal answer of the respondent; None without such
            answers.
        given_away: The share of respondents whose truths someone then knows for certain; None likewise.
        coin_bits: Entropy of its coin.
        relations: Relations of its attributes that every response discloses.
    """

    name: str
    columns: tuple[int, ...]
    kind: Kind
    truth: Fraction
    single_entry: Fraction
    loss: float
    loss_if_known: float | None
    given_away: Fraction | None
    coin_bits: float
    relations: tuple[Relation, ...]


@dataclass(frozen=True)
class Findings:
    """What a design discloses.

    Args:
        theta: As the design declares it for all groups; None where each has its own.
        disclosed: Columns of groups that every response gives away in full.
        loss: Epsilon of the record as a whole.
        coin_bits: Entropy of all coins of a record.
    """

    theta: Fraction | None
    attributes: tuple[AttributeFindings, ...]
    groups: tuple[GroupFindings, ...]
    disclosed: tuple[int, ...]
    loss: float
    coin_bits: float

    def names(self, columns: Iterable[int]) -> list[str]:
        """Return the names of attributes."""
        return [self.attributes[column].name for column in columns]

    def is_alone(self, column: int) -> bool:
        """Return whether an attribute has a coin of its own: its own response is then all that the coin says."""
        group = self.attributes[column].group
        return group is not None and sum(self.attributes[own].hides for own in self.groups[group].columns) == 1


def attribute_findings(
    design: Design, column: int, name: str, values: tuple[str, ...], prior: Prior | None
) -> AttributeFindings:
    """Measure one attribute."""
    entry = entry_of(design, column, prior)
    return AttributeFindings(
        name=name,
        values=values,
        group=design.group_of(column),
        assumed=prior is None,
        prior=entry.prior,
        responses=entry.responses,
        posteriors=entry.posteriors,
        own=measures(entry),
        loss=attribute_loss(design, column),
        odds=column_odds(design, column),
        bits_before=entropy_before(entry),
    )


def group_findings(
    design: Design,
    group: int,
    name: str,
    attributes: tuple[AttributeFindings, ...],
    relations: tuple[Relation, ...],
) -> GroupFindings:
    """Measure one group."""
    columns = design.groups[group]
    return GroupFindings(
        name=name,
        columns=columns,
        kind=design.part(group).kind,
        truth=design.truth(group),
        single_entry=group_value([attributes[column].own.single_entry for column in columns]),
        loss=group_loss(design, group),
        loss_if_known=known_answers_loss(design, group),
        given_away=given_away(design, group, [found.prior for found in attributes]),
        coin_bits=group_coin_entropy(design, group),
        relations=tuple(found for found in relations if found.first in columns),
    )


def measures(entry: Entry) -> Measures:
    """Measure an entry."""
    return Measures(
        breach=breach(entry),
        rise=largest_rise(entry),
        twice=repeated_level(entry, 2),
        single_entry=single_entry(entry),
        bits_left=entropy_left(entry),
    )


def measure_design(
    design: Design,
    names: Sequence[str],
    values: Sequence[Sequence[str]],
    priors: Sequence[Prior | None] | None = None,
    group_names: Sequence[str] | None = None,
) -> Findings:
    """Measure a design by every measure of DESIGN 10: labels are those of the schema, and nothing here reads data.

    A prior of None takes all values as equally likely, which the report then says.
    """
    beliefs = [None] * len(design.sizes) if priors is None else list(priors)
    _check_described(design.sizes, names, values, beliefs)
    groups = [f"group {number + 1}" for number in range(len(design.groups))] if group_names is None else group_names
    if len(groups) != len(design.groups):
        raise InputError(f"the design has {len(design.groups)} groups, but {len(groups)} names for them")
    attributes = tuple(
        attribute_findings(design, column, names[column], tuple(values[column]), beliefs[column])
        for column in range(len(design.sizes))
    )
    found = relations(design)
    return Findings(
        theta=design.theta if isinstance(design, OneKind) else None,
        attributes=attributes,
        groups=tuple(group_findings(design, k, groups[k], attributes, found) for k in range(len(design.groups))),
        disclosed=disclosed_columns(design),
        loss=record_loss(design),
        coin_bits=record_coin_entropy(design),
    )


def _check_described(
    sizes: Sequence[int], names: Sequence[str], values: Sequence[Sequence[str]], beliefs: Sequence[Prior | None]
) -> None:
    """Refuse descriptions that do not fit these columns."""
    if not len(names) == len(values) == len(beliefs) == len(sizes):
        raise InputError(
            f"a privacy report needs a name, labels and a prior (or None) for each of {len(sizes)} columns"
        )
    for name, labels, size in zip(names, values, sizes, strict=True):
        if len(labels) != size:
            raise InputError(f"column {name!r} has {size} values in the design, but {len(labels)} labels")
