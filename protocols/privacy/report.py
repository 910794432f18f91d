"""The privacy report of a design: every measure, as plain words and as JSON (DESIGN 10).

It speaks of the design and of priors, of no record: labels are those of the schema, and nothing here reads data.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from protocols.errors import InputError
from protocols.layout import USUAL_WIDTH, wrapped
from protocols.privacy.entropy import record_coin_entropy
from protocols.privacy.entry import Prior
from protocols.privacy.findings import Findings, attribute_findings, group_findings
from protocols.privacy.layout import group_names as named
from protocols.privacy.loss import record_loss
from protocols.privacy.relations import disclosed_columns, relations
from protocols.privacy.summary import short_lines
from protocols.privacy.wording import full_lines
from protocols.randomized_response.design import Design
from protocols.randomized_response.multi_group import MultiGroupDesign


@dataclass(frozen=True)
class PrivacyReport(Findings):
    """What a design discloses, and how it is told."""

    def lines(self, *, full: bool = False, width: int = USUAL_WIDTH) -> list[str]:
        """Return the report in plain words, in lines of at most so many characters.

        Args:
            full: Tell everything that was found; else what fits a screen.
            width: Of the lines, in characters.
        """
        text = full_lines(self, width) if full else short_lines(self, width)
        return [line for sentence in text for line in wrapped(sentence, width)]


def privacy_report(
    design: Design,
    names: Sequence[str],
    values: Sequence[Sequence[str]],
    priors: Sequence[Prior | None] | None = None,
    group_names: Sequence[str] | None = None,
) -> PrivacyReport:
    """Measure a design.

    Args:
        design: How the records are disguised.
        names: Name of every column.
        values: Labels of the values of every column.
        priors: Of every column the chance of each value, exact fractions; None where all are to be taken as equally
            likely, which the report then says.
        group_names: Name of every group; "group 1" and so on if not given.

    Raises:
        InputError: Names, labels or priors do not fit the design's columns or groups, or a prior is no distribution.
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
    groups = named(group_names, len(design.groups))
    attributes = tuple(
        attribute_findings(design, column, names[column], tuple(values[column]), beliefs[column])
        for column in range(len(sizes))
    )
    found = relations(design)
    return PrivacyReport(
        theta=design.theta,
        unrelated=not isinstance(design, MultiGroupDesign),
        attributes=attributes,
        groups=tuple(group_findings(design, k, groups[k], attributes, found) for k in range(len(design.groups))),
        disclosed=disclosed_columns(design),
        loss=record_loss(design),
        coin_bits=record_coin_entropy(design),
    )
