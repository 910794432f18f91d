"""What a peer may send in the place of what it should: it is refused, and nothing that follows from it leaves."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from protocols.errors import DeviationError, InputError, PeerError
from protocols.messages import BaseOffer, BasePoints, ChoicePage, CorrectionPage, SeedHints
from protocols.oblivious.base import TRANSFERS, answer_choices, choose, make_offer, read_offer
from protocols.oblivious.extension import DEPTHS, Transfers, set_up
from protocols.oblivious.products import SummedShares, bits_as_numbers, receive_products, send_products
from protocols.role import Message, Role, Send, T, run_pair
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious import plain
from tests.protocols.oblivious.parts import extend, meet, random_bits
from tests.protocols.oblivious.plain import P, as_bytes

Change = Callable[[Message], Message]


def sending(role: Role[T], change: Change) -> Role[T]:
    """Play a role, but change what it sends."""
    answer = None
    while True:
        try:
            effect = role.send(answer)
        except StopIteration as stop:
            result: T = stop.value
            return result
        answer = yield Send(change(effect.message)) if isinstance(effect, Send) else effect


def changed(kind: type[Message], **parts: Callable[[bytes], bytes]) -> Change:
    """Return what changes parts of the messages of one kind."""

    def change(message: Message) -> Message:
        if not isinstance(message, kind):
            return message
        return replace(message, **{name: part(getattr(message, name)) for name, part in parts.items()})

    return change


def flipped(place: int) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        at = place % len(data)
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]

    return flip


def without_its_end(data: bytes) -> bytes:
    return data[:-1]


def with_more(data: bytes) -> bytes:
    return data + data[-33:]


OFF_THE_CURVE = b"\x02" + (5).to_bytes(32, "big")  # 5**3 + 7 is no square
INFINITY = bytes(33)


def test_the_point_that_is_off_the_curve_is() -> None:
    assert pow(5**3 + 7, (P - 1) // 2, P) == P - 1


SET_UPS: dict[str, tuple[Change, str]] = {
    "an offer off the curve": (changed(BaseOffer, point=lambda _: OFF_THE_CURVE), "not on the curve"),
    "an offer at infinity": (changed(BaseOffer, point=lambda _: INFINITY), "not on the curve"),
    "an offer of two points": (changed(BaseOffer, point=with_more), "another number of points"),
    "a short nonce": (changed(BaseOffer, nonce=without_its_end), "no fresh bytes"),
    "a point off the curve": (changed(BasePoints, points=lambda data: OFF_THE_CURVE + data[33:]), "not on the curve"),
    "a point at infinity": (changed(BasePoints, points=lambda data: data[:33] + INFINITY + data[66:]), "not on"),
    "a repeated point": (changed(BasePoints, points=lambda data: data[-33:] + data[33:]), "a point twice"),
    "too few points": (changed(BasePoints, points=lambda data: data[66:]), "another number of points"),
    "too many points": (changed(BasePoints, points=with_more), "another number of points"),
    "no points": (changed(BasePoints, points=lambda _: b""), "another number of points"),
    "short hints": (changed(SeedHints, hints=without_its_end), "of other lengths"),
    "long sums": (changed(SeedHints, sums=with_more), "of other lengths"),
    "a short digest": (changed(SeedHints, digest=without_its_end), "of other lengths"),
    "another digest": (changed(SeedHints, digest=flipped(3)), "failed a check"),
    "another sum": (changed(SeedHints, sums=flipped(40)), "failed a check"),
}


@pytest.mark.parametrize("case", SET_UPS)
def test_a_session_is_not_made_of_other_messages(case: str) -> None:
    change, text = SET_UPS[case]
    with pytest.raises(PeerError, match=text):
        run_pair(set_up(4, Chance(1)), sending(set_up(4, Chance(2)), change))


@pytest.mark.parametrize("depth", DEPTHS[1:])
def test_a_hint_that_is_changed_fails_the_check_where_it_is_used(depth: int) -> None:
    """A path turns to either side of a level: one of the two hints is used, so one of both changes is seen."""
    seen = 0
    for side in (0, 1):
        change = changed(SeedHints, hints=flipped(16 * side))
        try:
            run_pair(set_up(depth, Chance(1)), sending(set_up(depth, Chance(2)), change))
        except DeviationError:
            seen += 1
    assert seen == 1


def test_no_nonce_or_points_of_the_peer_are_taken_for_ours() -> None:
    role = set_up(4, Chance(1))
    offer = next(role)
    assert isinstance(offer, Send)
    next(role)
    with pytest.raises(PeerError, match="no fresh bytes"):
        role.send(offer.message)
    secret, point = make_offer(Chance(3))
    points, _ = choose(b"s", read_offer(point), [0] * TRANSFERS, Chance(4))
    shift = plain.oracle(b"s", 0, 0, points[33:66])
    assert shift is not None
    with pytest.raises(PeerError, match="lead to no key"):
        answer_choices(b"s", secret, as_bytes((shift[0], P - shift[1])) + points[33:])


@pytest.mark.parametrize("depth", [0, 3, 16])
def test_trees_have_one_of_four_depths(depth: int) -> None:
    with pytest.raises(InputError, match="depth must be one of"):
        next(set_up(depth, Chance(1)))


def choosing(depth: int, change: Change, count: int = 300) -> tuple[Transfers, Transfers]:
    """Let the first side choose, with a change, and return both."""
    one, other = meet(depth)
    run_pair(sending(one.chooser.extend([random_bits(count, 1)]), change), other.sender.extend([count]))
    return one, other


PAGES: dict[str, tuple[Change, str]] = {
    "a short matrix": (changed(ChoicePage, matrix=without_its_end), "of another length"),
    "a longer matrix": (changed(ChoicePage, matrix=with_more), "of another length"),
    "a check of fewer columns": (changed(ChoicePage, check=lambda data: data[16:]), "of another length"),
    "no check": (changed(ChoicePage, check=lambda _: b""), "of another length"),
    "another hash of choices": (changed(ChoicePage, check=flipped(0)), "failed a check"),
    "another hash of a column": (changed(ChoicePage, check=flipped(16)), "failed a check"),
    "all rows flipped but one": (
        changed(ChoicePage, matrix=lambda data: data[:64] + bytes(byte ^ 255 for byte in data[64:])),
        "failed a check",
    ),
}


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("case", PAGES)
def test_a_page_of_choices_is_checked_before_it_is_used(case: str, depth: int) -> None:
    change, text = PAGES[case]
    with pytest.raises(PeerError, match=text):
        choosing(depth, change)


def test_no_choice_is_read_that_came_with_a_failed_check_or_after_one() -> None:
    one, other = meet(4)
    vector = random_bits(300, 1)
    with pytest.raises(DeviationError):
        run_pair(
            sending(one.chooser.extend([vector]), changed(ChoicePage, check=flipped(0))), other.sender.extend([300])
        )
    with pytest.raises(DeviationError):
        run_pair(one.chooser.extend([vector]), other.sender.extend([300]))


def test_a_page_is_not_taken_for_another_one() -> None:
    one, other = meet(4)
    pages = []
    for seed in (1, 2):
        role = one.chooser.extend([random_bits(300, seed)])
        pages.append(next(role))
    waiting = other.sender.extend([300])
    next(waiting)
    assert isinstance(pages[1], Send)
    with pytest.raises(DeviationError):
        waiting.send(pages[1].message)


@pytest.mark.parametrize("change", [without_its_end, with_more, lambda _: b""], ids=["short", "long", "empty"])
def test_corrections_of_another_length_are_refused(change: Callable[[bytes], bytes]) -> None:
    one, other = meet(4)
    (chosen,), (both,) = extend(one.chooser, other.sender, [random_bits(100, 1)])
    role = receive_products([(chosen, [7, 9])], SummedShares([(100, [7, 9])]))
    next(role)
    source = bits_as_numbers([np.ones(100, bool)] * 2, [7, 9])
    page = next(send_products([(both, [7, 9], source)], SummedShares([(100, [7, 9])])))
    assert isinstance(page, Send)
    assert isinstance(page.message, CorrectionPage)
    with pytest.raises(PeerError, match="corrections of another length"):
        role.send(CorrectionPage(change(page.message.corrections)))
