"""What a group is asked, in words."""

from fractions import Fraction
from typing import assert_never

from party.show.figures import percent
from protocols.randomized_response.design import Design, Kind

_OF_ALL = ("lie", "answer a personal question", "say what the device says")
_OF_ONE = ("another value", "the answer to a personal question", "what the device says")


def question_text(kind: Kind, truth: Fraction, values: int | None = None) -> str:
    """Say how a group answers, as the end of a sentence.

    Args:
        kind: Of its question.
        truth: The chance of the truth.
        values: How many the group's only column has; None of more columns.
    """
    chance = f"with a chance of {percent(truth)}"
    if values is None:
        told, lie, answer, device = f"all attributes of a group tell the truth {chance}, else all of them", *_OF_ALL
    else:
        told, lie, answer, device = f"a column of {values} values is sent truly {chance}, else as", *_OF_ONE
    match kind:
        case Kind.RELATED:
            return f"{told} {lie}"
        case Kind.UNRELATED:
            return f"{told} {answer}"
        case Kind.FORCED:
            return f"{told} {device}"
        case Kind.CROSSWISE:
            return f"it is told whether it agrees with a harmless statement, which is true of {percent(truth)}"
        case Kind.TRIANGULAR:
            return f"it is told whether it or a harmless statement is true, the latter of {percent(1 - truth)}"
        case _:
            assert_never(kind)


def kinds_text(design: Design) -> str:
    """Name the kinds of question of a design with their chances, each once."""
    if not design.groups:
        return "asked directly"
    parts = [(design.part(k).kind, design.truth(k)) for k in range(len(design.groups))]
    return "; ".join(f"{kind.value} question, {_chance(kind, truth)}" for kind, truth in dict.fromkeys(parts))


def _chance(kind: Kind, truth: Fraction) -> str:
    match kind:
        case Kind.RELATED | Kind.UNRELATED | Kind.FORCED:
            return f"theta {truth}"
        case Kind.CROSSWISE:
            return f"prevalence {truth}"
        case Kind.TRIANGULAR:
            return f"prevalence {1 - truth}"
        case _:
            assert_never(kind)
