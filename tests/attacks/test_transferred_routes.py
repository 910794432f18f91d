"""An asker of joint predictions that looks at all that it gets, chooses bits that are no route, or turns bits over.

Alice asks. By Bob's columns alone it is decided where a row ends below each of her two branches.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from protocols.learning.contest import Contest
from protocols.learning.routes import Routes
from protocols.learning.tree import Leaf, Split, Tree
from protocols.messages import CorrectionPage
from protocols.oblivious.aes import Uint64s
from protocols.oblivious.bits import unpack
from protocols.oblivious.extension import Choices, Chooser, Sender
from protocols.oblivious.gates import Gates
from protocols.oblivious.masks import BothKeys, ChosenKeys
from protocols.oblivious.triples import Triples
from protocols.role import Role, Transcript, run_pair
from protocols.tables.schema import Attribute, Schema
from protocols.two_party import ways
from protocols.two_party.ways import BayesWay, TreeWay
from tests.protocols.ciphers.paillier.chance import Chance
from tests.protocols.oblivious.parts import meet
from tests.support.binomial import ShareTest
from tests.support.models import bayes_of

PEOPLE = 1000
SCHEMA = Schema(
    tuple(Attribute(party, name, ("0", "1")) for party, name in (("alice", "a"), ("bob", "b"), ("bob", "c"))),
    Attribute("", "class", ("0", "1")),
    (),
)
LEAVES = (Leaf((1, 0), 0), Leaf((0, 1), 1))
TREE = Tree(SCHEMA, Split((3, 2), 0, (Split((2, 1), 1, LEAVES), Split((1, 1), 2, LEAVES))))
"""By `b` where Alice's `a` is 0, by `c` where it is 1; class 0 where it is neither."""
WAY = TreeWay(Routes(TREE, "alice", probabilities=False))
OF_BOB = np.random.default_rng(7).integers(0, 2, (PEOPLE, 2)).astype(np.int16)
NEITHER, NOT_OURS = -1, -9


def sides() -> tuple[Gates, Gates]:
    one, other = meet(4)
    return Gates(True, one, Triples(one, Chance(3))), Gates(False, other, Triples(other, Chance(4)))


def asked(own: int, of_bob: NDArray[np.int16], gates: tuple[Gates, Gates]) -> tuple[list[int], Transcript]:
    """Ask with one value of Alice's for everybody."""
    crossed, one, other = Transcript(), *gates
    mine = np.full((len(of_bob), 3), NOT_OURS, np.int16)
    theirs = np.concatenate([mine[:, :1], of_bob], axis=1)
    mine[:, 0] = own
    told, _ = run_pair(WAY.ask(mine, one), WAY.tell(theirs, other), crossed)
    return told, crossed


def corrections(crossed: Transcript) -> NDArray[np.uint64]:
    """Return the one bit for each row and edge that Bob has sent (`rows x edges`)."""
    (page,) = (message.corrections for message in crossed.sent_by_b if isinstance(message, CorrectionPage))
    return unpack(page, 2 * PEOPLE, 1).reshape(PEOPLE, 2)


def keep_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let both sides use the first keys of a session again, from their first use on."""
    choosing, sending = Chooser.extend, Sender.extend
    kept: dict[object, tuple[ChosenKeys | BothKeys, ...]] = {}

    def choose(self: Chooser, vectors: Sequence[Choices]) -> Role[list[ChosenKeys]]:
        if self not in kept:
            kept[self] = tuple((yield from choosing(self, vectors)))
        return [ChosenKeys(each.choices, each.chosen) for each in kept[self] if isinstance(each, ChosenKeys)]

    def send(self: Sender, sizes: Sequence[int]) -> Role[list[BothKeys]]:
        if self not in kept:
            kept[self] = tuple((yield from sending(self, sizes)))
        return [BothKeys(each.zero, each.offset) for each in kept[self] if isinstance(each, BothKeys)]

    monkeypatch.setattr(Chooser, "extend", choose)
    monkeypatch.setattr(Sender, "extend", send)


@pytest.mark.parametrize("again", [True, False])
def test_two_weights_under_one_mask_would_tell_both_columns_of_everybody_and_under_two_they_do_not(
    monkeypatch: pytest.MonkeyPatch, *, again: bool
) -> None:
    """Alice takes no edge, so that her answers say nothing. Of the first rows she knows Bob's columns: all are 0."""
    if again:
        keep_keys(monkeypatch)
    session = sides()
    known, first = asked(NEITHER, np.zeros_like(OF_BOB), session)
    told, second = asked(NEITHER, OF_BOB, session)
    assert set(known) == set(told) == {0}
    read = corrections(first) ^ corrections(second) == OF_BOB
    if again:
        assert read.all()
    else:
        assert ShareTest(read.size, Fraction(1, 2), 1e-9).accepts(int(read.sum()))


def test_bits_that_are_no_route_read_one_other_sum_of_the_answers_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A route reads `b` or `c`, as an answer does; both edges at once read whether they differ, and neither of them."""
    for own in (0, 1):
        assert (np.array(asked(own, OF_BOB, sides())[0]) == OF_BOB[:, own]).all()
    monkeypatch.setattr(Routes, "bits", lambda routes, codes: np.ones((len(codes), routes.edges), np.bool_))
    told = np.array(asked(NEITHER, OF_BOB, sides())[0])
    assert (told == OF_BOB[:, 0] ^ OF_BOB[:, 1]).all()
    for answer in (0, 1):
        assert set(OF_BOB[told == answer, 0].tolist()) == {0, 1}


def test_a_bit_that_is_turned_over_reads_beside_the_class_how_two_losers_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alice turns over her share of whether the last class beats the second, in the last one's product alone.

    Where the second class wins, the last one's product is then whether it beats the first: 3 or 1 is told for 1.
    """
    model = bayes_of((3, 3, 3, 3), 3, seed=11)
    way = BayesWay(Contest(model, "alice"), 3)
    codes = np.random.default_rng(3).integers(0, 3, (600, 4)).astype(np.int16)
    joined = Gates.all_of

    def turned(gates: Gates, wires: Uint64s) -> Role[Uint64s]:
        if gates.first:
            wires = wires.copy()
            wires[1, 2] ^= ~np.uint64(0)
        every: Uint64s = yield from joined(gates, wires)
        return every

    monkeypatch.setattr(Gates, "all_of", turned)
    monkeypatch.setattr(ways, "_outcomes", lambda sums, width, outcomes: sums.tolist())
    one, other = sides()
    answers, _ = run_pair(way.ask(codes, one), way.tell(codes, other))
    told = np.array(answers)
    scores = model.scores(codes)
    second = model.predict(codes) == 1
    assert set(told[second].tolist()) == {1, 3}
    assert ((told == 3) == (scores[:, 2] > scores[:, 0]))[second].all()
    assert (told[model.predict(codes) == 0] == 0).all()
