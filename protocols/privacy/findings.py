"""All measures of one attribute and of one group, gathered for a report (DESIGN 10)."""

from dataclasses import dataclass
from fractions import Fraction
from math import isinf

from protocols.privacy.entropy import entropy_before, entropy_left, group_coin_entropy
from protocols.privacy.entry import Prior, Row, entry_of
from protocols.privacy.joint import entry_in_group, is_small
from protocols.privacy.loss import attribute_loss, group_loss
from protocols.privacy.posterior import Breach, Rise, breach, largest_rise, repeated_level
from protocols.privacy.relations import Relation
from protocols.privacy.single_entry import group_value, single_entry
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
        breach: The largest posterior.
        rise: The largest rise of a belief.
        twice: The largest posterior if the same response came twice with fresh coins.
        single_entry: Expected chance on a wrong value, before mining.
        loss: Epsilon of this attribute alone.
        bits_before: Entropy of the prior.
        bits_left: Entropy left on average, given the response.
    """

    name: str
    values: tuple[str, ...]
    group: int | None
    assumed: bool
    prior: Row
    responses: Row
    posteriors: tuple[Row | None, ...]
    breach: Breach
    rise: Rise
    twice: Fraction
    single_entry: Fraction
    loss: float
    bits_before: float
    bits_left: float

    def to_json(self) -> Json:
        """Return plain types; exact chances as text, `"11/20"`, an infinite loss as `"infinite"`."""
        rise = self.rise
        return {
            "name": self.name,
            "values": list(self.values),
            "group": self.group,
            "sent_as_it_is": self.group is None,
            "prior": texts(self.prior),
            "prior_is_assumed": self.assumed,
            "responses": texts(self.responses),
            "posteriors": [texts(row) if row is not None else None for row in self.posteriors],
            "breach_level": str(self.breach.level),
            "breaches": [{"response": self.values[r], "value": self.values[v]} for r, v in self.breach.where],
            "largest_rise": {
                "response": self.values[rise.response],
                "value": self.values[rise.value],
                "before": str(rise.before),
                "after": str(rise.after),
            },
            "breach_level_if_asked_twice": str(self.twice),
            "single_entry_before_mining": str(self.single_entry),
            "epsilon": finite(self.loss),
            "bits_before": self.bits_before,
            "bits_left": self.bits_left,
        }


@dataclass(frozen=True)
class GroupFindings:
    """What responses disclose of the attributes that share a coin, taken together.

    Args:
        columns: Indices of its attributes.
        single_entry: The smallest of its entries, before mining.
        levels: Of each attribute the breach level once all responses of the group are read, if the attributes are
            independent; None if the group has too many joint cells.
        loss: Epsilon of the group as a whole.
        coin_bits: Entropy of its coin.
        relations: Relations of its attributes that every response discloses.
    """

    columns: tuple[int, ...]
    single_entry: Fraction
    levels: tuple[Fraction, ...] | None
    loss: float
    coin_bits: float
    relations: tuple[Relation, ...]

    def to_json(self, names: tuple[str, ...]) -> Json:
        """Return plain types, attributes by name."""
        return {
            "attributes": [names[column] for column in self.columns],
            "single_entry_before_mining": str(self.single_entry),
            "breach_levels_all_responses_read": None if self.levels is None else texts(self.levels),
            "epsilon": finite(self.loss),
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
        breach=breach(entry),
        rise=largest_rise(entry),
        twice=repeated_level(entry, 2),
        single_entry=single_entry(entry),
        loss=attribute_loss(design, column),
        bits_before=entropy_before(entry),
        bits_left=entropy_left(entry),
    )


def group_findings(
    design: Design, group: int, attributes: tuple[AttributeFindings, ...], relations: tuple[Relation, ...]
) -> GroupFindings:
    """Measure one group.

    Args:
        design: How the records are disguised.
        group: Index of the group.
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
        columns=columns,
        single_entry=group_value([attributes[column].single_entry for column in columns]),
        levels=tuple(breach(entry).level for entry in entries) if small else None,
        loss=loss,
        coin_bits=group_coin_entropy(design, group),
        relations=tuple(found for found in relations if found.first in columns),
    )


def texts(chances: Row) -> list[str]:
    """Return exact fractions as text."""
    return [str(chance) for chance in chances]


def finite(loss: float) -> float | str:
    """Return a loss as JSON can hold it: infinity in words."""
    return "infinite" if isinf(loss) else loss
