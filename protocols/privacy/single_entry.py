"""What a receiver learns of one cell: the single-entry measure (Surveys section 4), and truths that are certain.

The measure before mining (DESIGN 10) is the chance, in expectation, that the receiver's posterior puts on a wrong
value. It is 0 where every response tells the truth and largest, `1 - sum P(x)^2`, where responses say nothing.

Deviation from the paper: its component 1 has `1 - W_y` where `W_y` belongs, and its closed form inherits that; the two
agree at `W_y = 1/2`, as in its experiments. Here the sum is over any number of values and any design.

`survey/inference.py` has the measures after mining of a model's rules.

A receiver who knows respondents' personal answers is certain of the truth of a share of them. Epsilon says how bad it
may get, and is infinite (`loss.known_answers_loss`); this says how often.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from numbers import Rational

from protocols.errors import InputError
from protocols.privacy.entry import Entry, MatrixRow, check_chances, check_group
from protocols.randomized_response.crosswise import TriangularDesign
from protocols.randomized_response.design import Design
from protocols.randomized_response.unrelated_question import UnrelatedDesign


def single_entry(entry: Entry) -> Fraction:
    """Return `PSE(PRE) = sum over x, r of P(x) T[r][x] (1 - P(x | r))` (Surveys 4.1).

    >>> half, unrelated = Fraction(1, 2), ((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
    >>> single_entry(Entry((half, half), unrelated))
    Fraction(3, 8)
    """
    known = sum(
        (
            share * after
            for row, posterior in zip(entry.joint, entry.posteriors, strict=True)
            if posterior is not None
            for share, after in zip(row, posterior, strict=True)
        ),
        Fraction(0),
    )
    return 1 - known


def recoverability_known(preconditions: Sequence[Fraction], confidences: Sequence[Fraction]) -> Fraction:
    """Return `REC = sum P(precondition) P(confidence)` where the rules' preconditions are known (Surveys 4.2, I).

    Oddly, over *all* rules from one attribute to another the confidences of a precondition add up to 1, and so does
    REC, whatever was mined. The paper's own confidences (0.8 and 0.6 from one precondition) do not, and give REC
    above 1.
    """
    return _products(preconditions, confidences)


def recoverability_unknown(confidences: Sequence[Fraction], correct_guesses: Sequence[Fraction]) -> Fraction:
    """Return `REC = sum P(confidence) P(original | randomized)` if preconditions are unknown too (Surveys 4.2, II).

    Oddly, the rules' preconditions carry no weight here, so REC of rules from two preconditions may be near 2. A guess
    is correct with the chance `Entry.posteriors[v][v]` of the value that a rule concludes.
    """
    return _products(confidences, correct_guesses)


def after_mining(before: Fraction, recoverabilities: Sequence[Fraction]) -> Fraction:
    """Return `PSE = PSE(PRE) - REC` of one entry, the largest REC of those found for it (Surveys 4.2; DESIGN 10).

    The sign between the two is lost in the scan; the text calls the value a difference. It may be negative, and is
    where REC is above `before`: the paper's own REC is above 1. Nothing is clipped.
    """
    check_chances([before], "privacy before mining")
    if not recoverabilities or not all(isinstance(rec, Rational) and rec >= 0 for rec in recoverabilities):
        raise InputError("privacy after mining needs at least one recoverability, each an exact fraction of 0 or more")
    return before - max(recoverabilities)


def group_value(entries: Sequence[Fraction]) -> Fraction:
    """Return the value of a group: the smallest of its entries, since finding one finds the others (Surveys 4)."""
    if not entries:
        raise InputError("the privacy of a group needs at least one entry")
    return min(entries)


def _products(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    if not left or len(left) != len(right):
        raise InputError(
            f"recoverability needs as many chances of both kinds, at least one, not {len(left)}, {len(right)}"
        )
    check_chances([*left, *right], "recoverability")
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction(0))


def given_away(design: Design, group: int, priors: Sequence[MatrixRow]) -> Fraction | None:
    """Return the share of respondents whose truths in a group are certain to someone who knows their personal answers.

    With `y` known, the crosswise response has one possible truth always, the triangular one where the harmless
    statement is not true, the unrelated one where it differs from `y` in some column. Columns are taken as independent.
    None where there are no personal answers.
    """
    check_group(design, group)
    own = design.part(group)
    if not own.asks_personally:
        return None
    if isinstance(own, TriangularDesign):
        return design.truth(group)
    if isinstance(own, UnrelatedDesign):
        return design.truth(group) * (1 - _agreement(own, design.groups[group], priors))
    return Fraction(1)


def _agreement(own: UnrelatedDesign, columns: Sequence[int], priors: Sequence[MatrixRow]) -> Fraction:
    """Return the chance that the true and the personal answers of a group are the same."""
    if joint := own.joint_cells(columns[0]):
        return sum((prod((priors[c][v] for c, v in cell.items()), start=chance) for cell, chance in joint), Fraction(0))
    each = (
        sum((before * chance for before, chance in zip(priors[c], own.personal[c], strict=True)), Fraction(0))
        for c in columns
    )
    return prod(each, start=Fraction(1))
