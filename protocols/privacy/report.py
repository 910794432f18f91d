"""The privacy report of a design: every measure, as plain words and as JSON (DESIGN 10).

It speaks of the design and of priors, of no record: labels are those of the schema, and nothing here reads data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from protocols.errors import InputError
from protocols.privacy.entropy import record_coin_entropy
from protocols.privacy.entry import Prior
from protocols.privacy.findings import (
    AttributeFindings,
    GroupFindings,
    Json,
    attribute_findings,
    finite,
    group_findings,
)
from protocols.privacy.loss import record_loss
from protocols.privacy.relations import disclosed_columns, relations
from protocols.privacy.wording import attribute_lines, group_lines, loss_words, percent
from protocols.randomized_response.design import Design


@dataclass(frozen=True)
class PrivacyReport:
    """What a design discloses.

    Args:
        theta: Chance that a group tells the truth.
        attributes: Findings of every column, plain ones included.
        groups: Findings of every group.
        disclosed: Columns of groups that every response gives away in full.
        loss: Epsilon of the record as a whole.
        coin_bits: Entropy of all coins of a record.
    """

    theta: Fraction
    attributes: tuple[AttributeFindings, ...]
    groups: tuple[GroupFindings, ...]
    disclosed: tuple[int, ...]
    loss: float
    coin_bits: float

    def to_json(self) -> Json:
        """Return plain types for `json.dumps`: exact chances as text, an infinite loss as `"infinite"`."""
        names = tuple(found.name for found in self.attributes)
        return {
            "theta": str(self.theta),
            "sent_as_they_are": [found.name for found in self.attributes if found.group is None],
            "disclosed_in_full": [names[column] for column in self.disclosed],
            "attributes": [found.to_json() for found in self.attributes],
            "groups": [found.to_json(names) for found in self.groups],
            "record": {"epsilon": finite(self.loss), "coin_bits": self.coin_bits},
        }

    def lines(self) -> list[str]:
        """Return the report in plain words, line by line."""
        text = [*self._what_is_sent(), *self._assumptions()]
        for found in self.attributes:
            text += attribute_lines(found)
        for number, group in enumerate(self.groups):
            text += group_lines(number, group, self.attributes)
        text.append(f"Whole record: loss (epsilon) {loss_words(self.loss)}; {self.coin_bits:.3f} bits of coins.")
        if self.groups:
            text.append(
                "Coins must be made once: asking again then teaches nothing, while fresh coins would let the receiver "
                "average them away."
            )
        return text

    def _what_is_sent(self) -> list[str]:
        plain = [found.name for found in self.attributes if found.group is None]
        disguised, groups = len(self.attributes) - len(plain), len(self.groups)
        summary = (
            f"{disguised} of {len(self.attributes)} attributes are disguised, in {groups} group{'s' * (groups != 1)}; "
            f"a group tells the truth with a chance of {percent(self.theta)}."
        )
        text = [summary]
        if plain:
            text.append(f"Sent as they are: {', '.join(plain)}.")
        if self.disclosed:
            names = ", ".join(self.attributes[column].name for column in self.disclosed)
            text.append(f"NOT PROTECTED, although in a group: every response gives away {names} in full.")
        return text

    def _assumptions(self) -> list[str]:
        assumed = [found.name for found in self.attributes if found.assumed]
        if not assumed:
            return []
        text = (
            f"Assumed, since nothing was given: all values equally likely of {', '.join(assumed)}. "
            "Posteriors, breach levels, single-entry privacy and bits depend on it; losses do not."
        )
        return [text]


def privacy_report(
    design: Design,
    names: Sequence[str],
    values: Sequence[Sequence[str]],
    priors: Sequence[Prior | None] | None = None,
) -> PrivacyReport:
    """Measure a design.

    Args:
        design: How the records are disguised.
        names: Name of every column.
        values: Labels of the values of every column.
        priors: Of every column the chance of each value, exact fractions; None where all are to be taken as equally
            likely, which the report then says.

    Raises:
        InputError: Names, labels or priors do not fit the design's columns, or a prior is not a distribution.
    """
    sizes = design.sizes
    beliefs = [None] * len(sizes) if priors is None else list(priors)
    if not len(names) == len(values) == len(beliefs) == len(sizes):
        raise InputError(
            f"a privacy report needs a name, labels and a prior (or None) for each of {len(sizes)} columns"
        )
    for name, labels, size in zip(names, values, sizes, strict=True):
        if len(labels) != size:
            raise InputError(f"column {name!r} has {size} values in the design, but {len(labels)} labels")
    attributes = tuple(
        attribute_findings(design, column, names[column], tuple(values[column]), beliefs[column])
        for column in range(len(sizes))
    )
    found = relations(design)
    return PrivacyReport(
        theta=design.theta,
        attributes=attributes,
        groups=tuple(group_findings(design, k, attributes, found) for k in range(len(design.groups))),
        disclosed=disclosed_columns(design),
        loss=record_loss(design),
        coin_bits=record_coin_entropy(design),
    )
