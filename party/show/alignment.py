"""What an alignment found, in words."""

from collections.abc import Iterator

from party.data.ids import IdLook
from party.node.players import Matched


def matched_lines(matched: Matched) -> Iterator[str]:
    """Say how many people each side lists, how many both, and what follows."""
    peer, overlap = matched.peer, matched.overlap
    lists = f"{overlap.mine:,} people here, {overlap.yours:,} at {peer}"
    yield f"Aligned with {peer}: {lists}, {overlap.both:,} on both lists"
    if overlap.both == overlap.mine == overlap.yours:
        yield "Both list the same people, in whatever order the files have them"
        return
    if overlap.alike:
        more = ", ".join(overlap.alike)
        yield f"They are the same people in another spelling: add to [data] id_alike, on both sides, {more}"
    elif 2 * overlap.both < min(overlap.mine, overlap.yours):
        yield from _look_lines(matched.look)
    if not matched.named:
        yield "Who they are was not told: without --count-only each side learns which of its own are common"
        return
    here, there = overlap.mine - overlap.both, overlap.yours - overlap.both
    used = "classified" if matched.rows else "used; `train` takes the others"
    yield f"{here:,} rows here and {there:,} at {peer} fall out and are not {used}"


def _look_lines(look: IdLook) -> Iterator[str]:
    """Say what our ids look like, where few of them are on both lists."""
    if look.shapes:
        yield f"Ours look like {' or '.join(look.shapes)} (9 for a digit): does the peer write its ids otherwise?"
    if look.unpadded:
        yield "Ours have no zeros in front: if these were lost, add zeros to [data] id_alike on both sides"


def matched_json(matched: Matched) -> dict[str, object]:
    """Return what `matched_lines` tells, for programs."""
    overlap = matched.overlap
    numbers = {"here": overlap.mine, "there": overlap.yours, "both": overlap.both}
    head = {"format": "cotally-matched/1", "peer": matched.peer}
    return {**head, **numbers, "named": matched.named, "alike": list(overlap.alike)}
