"""All measures of one attribute, of one group and of a record, gathered for a report (DESIGN 10)."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isinf

from protocols.privacy.entropy import entropy_before, group_coin_entropy
from protocols.privacy.entry import Prior, Row, entry_of
from protocols.privacy.joint import entry_in_group, is_small
from protocols.privacy.loss import attribute_loss, group_loss, known_answers_loss
from protocols.privacy.measures import Measures, measures
from protocols.privacy.odds import Odds, column_odds
from protocols.privacy.relations import Relation
from protocols.privacy.single_entry import group_value
from protocols.randomized_response.design import Design

Json = dict[str, object]


@dataclass(frozen=True)
class AttributeFindings:
    """What responses disclose of one attribute.

    Args:
        name: The attribute.
        values: The labels of its values.
        group: Index of its group; None if it is sent as it is.
        assumed: Whether the prior is an assumption: all values equally likely.
        prior: Chance of each value before the response.
        responses: Chance of each response.
        posteriors: Of each response the chance of each value; None for a response that is never given.
        own: What its own response does, alone.
        loss: Epsilon of this attribute alone.
        odds: Of its own value against any one other, in the response that speaks most clearly.
        bits_before: Entropy of the prior.
    """

    name: str
    values: tuple[str, ...]
    group: int | None
    assumed: bool
    prior: Row
    responses: Row
    posteriors: tuple[Row | None, ...]
    own: Measures
    loss: float
    odds: Odds
    bits_before: float

    @property
    def hides(self) -> bool:
        """Whether it is disguised and has something to disclose: more than one value."""
        return self.group is not None and len(self.values) > 1

    def to_json(self, groups: tuple[str, ...]) -> Json:
        """Return plain types; exact chances as text, `"11/20"`, an infinite loss as `"infinite"`; groups by name."""
        rise = self.own.rise
        return {
            "name": self.name,
            "values": list(self.values),
            "group": self.group,
            "group_name": None if self.group is None else groups[self.group],
            "sent_as_it_is": self.group is None,
            "prior": texts(self.prior),
            "prior_is_assumed": self.assumed,
            "responses": texts(self.responses),
            "posteriors": [texts(row) if row is not None else None for row in self.posteriors],
            "breach_level": str(self.own.breach.level),
            "breaches": [{"response": self.values[r], "value": self.values[v]} for r, v in self.own.breach.where],
            "largest_rise": {
                "response": self.values[rise.response],
                "value": self.values[rise.value],
                "before": str(rise.before),
                "after": str(rise.after),
            },
            "breach_level_if_asked_twice": str(self.own.twice),
            "single_entry_before_mining": str(self.own.single_entry),
            "epsilon": finite(self.loss),
            "odds": [str(self.odds.truth), str(self.odds.other)],
            "bits_before": self.bits_before,
            "bits_left": self.own.bits_left,
        }


@dataclass(frozen=True)
class GroupFindings:
    """What responses disclose of the attributes that share a coin, taken together.

    Args:
        name: The group.
        columns: Indices of its attributes.
        single_entry: The smallest of its entries, before mining.
        together: Of each attribute what all responses of the group do, if the attributes are independent; None if the
            group has too many joint cells.
        loss: Epsilon of the group as a whole.
        loss_if_known: The same against who knows a personal answer of the respondent; None where there are none.
        coin_bits: Entropy of its coin.
        relations: Relations of its attributes that every response discloses.
    """

    name: str
    columns: tuple[int, ...]
    single_entry: Fraction
    together: tuple[Measures, ...] | None
    loss: float
    loss_if_known: float | None
    coin_bits: float
    relations: tuple[Relation, ...]

    def to_json(self, names: tuple[str, ...]) -> Json:
        """Return plain types, attributes by name."""
        levels = None if self.together is None else texts(tuple(own.breach.level for own in self.together))
        return {
            "name": self.name,
            "attributes": [names[column] for column in self.columns],
            "single_entry_before_mining": str(self.single_entry),
            "breach_levels_all_responses_read": levels,
            "epsilon": finite(self.loss),
            "epsilon_if_a_personal_answer_is_known": None if self.loss_if_known is None else finite(self.loss_if_known),
            "coin_bits": self.coin_bits,
            "relations": [
                {
                    "attributes": [names[found.first], names[found.second]],
                    "difference_modulo": found.modulus,
                    "values_left": [found.left_of_first, found.left_of_second],
                }
                for found in self.relations
            ],
        }


@dataclass(frozen=True)
class Findings:
    """What a design discloses.

    Args:
        theta: Chance that a group tells the truth, as the design declares it.
        unrelated: Whether a group answers a personal question where it does not tell the truth; else it lies.
        attributes: Findings of every column, plain ones included.
        groups: Findings of every group.
        disclosed: Columns of groups that every response gives away in full.
        loss: Epsilon of the record as a whole.
        coin_bits: Entropy of all coins of a record.
    """

    theta: Fraction
    unrelated: bool
    attributes: tuple[AttributeFindings, ...]
    groups: tuple[GroupFindings, ...]
    disclosed: tuple[int, ...]
    loss: float
    coin_bits: float

    def names(self, columns: Iterable[int]) -> list[str]:
        """Return the names of attributes."""
        return [self.attributes[column].name for column in columns]

    def read(self, column: int) -> tuple[Measures, bool]:
        """Return what a receiver has of an attribute who reads its whole group, and whether that could be measured.

        Where it could not, or the attribute is plain, what its own response does alone.
        """
        found = self.attributes[column]
        group = None if found.group is None else self.groups[found.group]
        if group is None or group.together is None:
            return found.own, group is None
        return group.together[group.columns.index(column)], True

    def to_json(self) -> Json:
        """Return plain types for `json.dumps`: exact chances as text, an infinite loss as `"infinite"`."""
        names = tuple(found.name for found in self.attributes)
        groups = tuple(found.name for found in self.groups)
        return {
            "theta": str(self.theta),
            "sent_as_they_are": [found.name for found in self.attributes if found.group is None],
            "disclosed_in_full": self.names(self.disclosed),
            "attributes": [found.to_json(groups) for found in self.attributes],
            "groups": [found.to_json(names) for found in self.groups],
            "record": {"epsilon": finite(self.loss), "coin_bits": self.coin_bits},
        }


def attribute_findings(
    design: Design, column: int, name: str, values: tuple[str, ...], prior: Prior | None
) -> AttributeFindings:
    """Measure one attribute.

    Raises:
        InputError: There is no such column, or the prior is not a distribution over its values.
    """
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
    """Measure one group.

    Args:
        design: How the records are disguised.
        group: Index of the group.
        name: What readers call it.
        attributes: The findings of every column.
        relations: Of the whole design.

    Raises:
        InputError: There is no such group.
    """
    loss = group_loss(design, group)
    columns = design.groups[group]
    priors = [found.prior for found in attributes]
    small = is_small(design, columns[0])
    entries = [entry_in_group(design, column, priors) for column in columns] if small else []
    return GroupFindings(
        name=name,
        columns=columns,
        single_entry=group_value([attributes[column].own.single_entry for column in columns]),
        together=tuple(map(measures, entries)) if small else None,
        loss=loss,
        loss_if_known=known_answers_loss(design, group),
        coin_bits=group_coin_entropy(design, group),
        relations=tuple(found for found in relations if found.first in columns),
    )


def texts(chances: Row) -> list[str]:
    """Return exact fractions as text."""
    return [str(chance) for chance in chances]


def finite(loss: float) -> float | str:
    """Return a loss as JSON can hold it: infinity in words."""
    return "infinite" if isinf(loss) else loss
