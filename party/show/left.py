"""What has been told of a data set, and what its owner's `[agree]` leaves, in words."""

from fractions import Fraction

from party.node.check import Past
from party.settings.noise import noise_text
from party.settings.party import Acceptance


def left_lines(told: Past, agree: Acceptance) -> list[str]:
    """Say what all runs over a data set have told, beside what they may, but for what is neither."""
    runs = f"{told.runs:,} run{'' if told.runs == 1 else 's'} on different terms; {_left(told.runs, agree.life.runs)}"
    if agree.life.runs is not None and told.runs >= agree.life.runs:
        runs += ": a run on other terms is refused, one on the same terms is not"
    counts = f"{told.counts:,} count{'' if told.counts == 1 else 's'}; {_left(told.counts, agree.life.counts)}"
    lines = [f"Told so far: {runs}."] if told.runs or agree.life.runs is not None else []
    if told.counts or agree.life.counts is not None:
        lines.append(f"Told so far: {counts}.")
    if told.epsilon == 0 and agree.epsilon is None:
        return lines
    spent = "no bound, as counts without noise were told" if told.epsilon is None else noise_text(told.epsilon)
    allowed = "any" if agree.epsilon is None else noise_text(agree.epsilon)
    return [*lines, f"Epsilon spent on counts: {spent}; [agree] epsilon allows {allowed}."]


def epsilon_lines(noise: Fraction | None, told: Past, agree: Acceptance) -> list[str]:
    """Say what a run would spend of a data set's epsilon, and what that would leave; nothing where it has no noise.

    Args:
        noise: Epsilon against each side.
        told: What has been told before.
        agree: What this party agrees to.
    """
    if noise is None:
        return []
    known = "a run that is the same as an earlier one spends nothing more"
    spends = f"This run spends epsilon {noise_text(noise)}"
    if agree.epsilon is None:
        return [f"{spends}; {known}."]
    if told.epsilon is None:
        return [f"{spends}, but no epsilon bounds what was told before: [agree] epsilon refuses it."]
    left = agree.epsilon - told.epsilon - noise
    if left < 0:
        return [f"{spends}, {noise_text(-left)} more than [agree] epsilon leaves, which refuses it; {known}."]
    return [f"{spends} and leaves {noise_text(left)} of [agree] epsilon; {known}."]


def _left(before: int, most: int | None) -> str:
    return "[agree] bounds none" if most is None else f"{max(most - before, 0):,} of {most:,} are left"
