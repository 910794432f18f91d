"""What a group is asked, in words."""

from fractions import Fraction
from typing import assert_never

from party.show.figures import percent
from protocols.randomized_response.design import Design, Kind


def question_text(kind: Kind, truth: Fraction) -> str:
    """Say how a group answers, as the end of a sentence."""
    told = f"all attributes of a group tell the truth with a chance of {percent(truth)}, else all of them"
    match kind:
        case Kind.RELATED:
            return f"{told} lie"
        case Kind.UNRELATED:
            return f"{told} answer a personal question"
        case Kind.FORCED:
            return f"{told} say what the device says"
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
