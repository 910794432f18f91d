"""What each side of a joint prediction sees is what a simulator makes: the asker's of classes, the other's of sizes.

A simulator plays the side that it simulates, with that side's own rows and chance, and knows nothing of the other's.
"""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.learning.naive_bayes import Model
from protocols.messages import ChoicePage, CorrectionPage, MaskedPage, RowShares
from protocols.oblivious.aes import WORD
from protocols.oblivious.bits import pack, unpack
from protocols.oblivious.gates import Gates
from protocols.oblivious.products import simulate_page
from protocols.oblivious.session import Transfers
from protocols.oblivious.triples import Triples
from protocols.role import Message, Transcript, run_pair
from protocols.two_party.ways import way_of
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import meet
from tests.protocols.oblivious.test_views import bits_of, off
from tests.support.duel import replay
from tests.support.mask_recorder import ONCE, MaskRecorder
from tests.support.models import bayes_of, small_model
from tests.support.predictions import Together

Rows = NDArray[np.int16]
NOT_OURS = -9
COUNT = 2048
MODELS: dict[str, tuple[Model, int]] = {"a tree": (small_model(), 1), "naive Bayes": (bayes_of((3, 3, 3, 3), 4, 1), 2)}
"""Each with the bits of its outcomes; all numbers of this many bits are outcomes."""


def rows(model: Model, seed: int, party: str) -> Rows:
    """Return random rows of which only this party's columns are seen."""
    codes = np.random.default_rng(seed).integers(-1, 3, (COUNT, len(model.schema.attributes)))
    own = np.array([attribute.party == party for attribute in model.schema.attributes])
    return np.where(own, codes, NOT_OURS).astype(np.int16)


def gates() -> tuple[Gates, Gates]:
    """Return both sides' gates, with the same chance every time; Alice's first."""
    one, other = meet(4)
    return Gates(True, one, Triples(one, Chance(3))), Gates(False, other, Triples(other, Chance(4)))


def sides(model: Model, asks: int, answers: int) -> tuple[tuple[Sequence[Message], Sequence[Message]], list[int]]:
    """Return what either side hears, the asker's first, and what comes out; Alice asks."""
    one, other = gates()
    crossed, way = Transcript(), way_of(model, "alice", probabilities=False)
    asking, telling = way.ask(rows(model, asks, "alice"), one), way.tell(rows(model, answers, "bob"), other)
    told, _ = run_pair(asking, telling, crossed)
    return (crossed.sent_by_b, crossed.sent_by_a), told


def uniform(like: Message, sender: Transfers, number: int) -> Message:
    """Return a message of the same size from nothing: choices that pass the receiver's check, or uniform strings."""
    if isinstance(like, ChoicePage):
        length = 8 * len(like.matrix) // 32
        page = sender.sender.simulate(number, length, Chance(length))
        assert len(page.matrix) == len(like.matrix)
        return page
    if isinstance(like, MaskedPage):
        size = len(like.words)
        return MaskedPage(Chance(size + number).randbelow(1 << 8 * size).to_bytes(size, "big"))
    assert isinstance(like, CorrectionPage)
    return simulate_page(len(like.corrections), Chance(len(like.corrections) + number))


def simulated(model: Model, real: Sequence[Message], who: str, told: Sequence[int]) -> list[Message]:
    """Return what a side hears, from its own rows, the sizes and, of the asker, the classes alone."""
    width = MODELS[next(name for name, (each, _) in MODELS.items() if each is model)][1]
    own, first = gates()[who == "bob"].transfers, 0
    view: list[Message] = []
    for like in real:
        if isinstance(like, RowShares):
            view.append(RowShares(bytes(len(like.shares))))
            continue
        view.append(uniform(like, own, first))
        first += 8 * len(like.matrix) // 32 if isinstance(like, ChoicePage) else 0
    if who == "alice":  # with shares of 0 it hears its own share
        share = np.array(heard(model, view, who), WORD)
        outcomes = np.array(told, WORD)
        last = outcomes - share & np.uint64(2**width - 1) if width == 1 else outcomes ^ share
        view[-1] = RowShares(pack(last, width))
    return view


def heard(model: Model, view: Sequence[Message], who: str) -> list[int] | None:
    """Play a side against what it hears; it must be content."""
    way, own = way_of(model, "alice", probabilities=False), gates()[who == "bob"]
    if who == "bob":
        assert replay(way.tell(rows(model, 2, "bob"), own), view).error is None
        return None
    end = replay(way.ask(rows(model, 1, "alice"), own), view)
    assert end.error is None
    return end.result


def strings(view: Sequence[Message], width: int) -> list[NDArray[np.uint8]]:
    """Return all that should look uniform, eight bytes in a row."""
    parts = []
    for message in view:
        match message:
            case ChoicePage(matrix):
                parts.append(bits_of(matrix, 8))
            case CorrectionPage(words) | MaskedPage(words):
                parts.append(bits_of(words, 8))
            case RowShares(shares):
                bits = np.unpackbits(unpack(shares, COUNT, width).astype(np.uint8)[:, None], 1)[:, -width:]
                parts.append(bits.reshape(-1, 8))
    return parts


@pytest.mark.parametrize("name", MODELS)
def test_views_follow_from_classes_and_sizes(name: str) -> None:
    model, width = MODELS[name]
    (real, _), told = sides(model, 1, 2)
    view = simulated(model, real, "alice", told)
    assert heard(model, view, "alice") == heard(model, real, "alice") == told
    for each in (real, view):
        assert off(*strings(each, width)) == []
    model, width = MODELS[name]
    (_, real), _ = sides(model, 1, 2)
    view = simulated(model, real, "bob", ())
    heard(model, view, "bob")
    for each in (real, view):
        assert off(*strings(each, width)) == []

    def sizes(asks: int, answers: int) -> list[list[tuple[type[Message], list[int]]]]:
        views, _ = sides(MODELS[name][0], asks, answers)
        return [[(type(each), [len(part) for part in vars(each).values()]) for each in view] for view in views]

    assert sizes(1, 2) == sizes(3, 4)


def test_a_share_without_a_mask_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: an answerer whose masks are 0 shows its weights."""
    monkeypatch.setattr("protocols.oblivious.masks._hashed", lambda fixed, keys, *_: np.zeros_like(keys))
    (real, _), _ = sides(MODELS["a tree"][0], 1, 2)
    assert off(*strings(real, 1)) != []


@pytest.mark.parametrize("name", MODELS)
def test_no_mask_is_formed_twice_where_both_ask_in_batches(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("protocols.two_party.ways.TRANSFERS_AT_ONCE", 600)
    model, _ = MODELS[name]
    recorder = MaskRecorder(monkeypatch)
    codes = np.random.default_rng(1).integers(0, 2, (200, len(model.schema.attributes))).astype(np.int16)
    run_pair(*Together(model, codes, "both").roles())
    assert recorder.offsets == 2
    assert recorder.times() == ONCE
