"""A peer that has agreed and then sends anything else than what comes next, over TLS to a real node (DESIGN 6.2).

What may be asked follows from the terms on both sides: no message names what a side counts, so that a peer can only
send too much, too little, or another kind.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from party.keys.keystore import load_secret
from party.records.journal import RunState, recorded_runs
from protocols.errors import PeerError
from protocols.messages import DisguisedPage, MaskedPage, OpenedPage, Verdict
from protocols.role import Effect, Message, Role, Send
from protocols.two_party.agreement import Agreement
from protocols.two_party.inputs import PartyInputs
from protocols.two_party.training import Outcome, training_role
from tests.integration.test_serving import ROWS, Bob, problems, serve
from tests.support.processes import Pair, make_pair

Change = Callable[[Any], Message]
HOSTILE: dict[str, tuple[type[Message], Change]] = {
    "a window of one candidate more": (OpenedPage, lambda sent: OpenedPage(sent.words + bytes(8))),
    "a window of no candidate": (OpenedPage, lambda sent: OpenedPage(sent.words[8:])),
    "another kind": (MaskedPage, lambda _: Verdict("")),
    "a copy of one record more": (DisguisedPage, lambda sent: DisguisedPage(sent.codes + sent.codes[:2])),
    "a copy with a value that no column has": (DisguisedPage, lambda sent: DisguisedPage(b"\xff" + sent.codes[1:])),
}


@pytest.fixture
def pair(trusting: Path, tmp_path: Path) -> Pair:
    other = [["rst"[i % 7 % 3], "pq"[i // 2 % 2]] for i in range(150)]
    return make_pair(trusting, tmp_path / "parties", (["a", "b", "class"], ROWS), (["c", "d"], other))


def changing(kind: type[Message], change: Change, changed: list[Message]) -> Callable[..., Role[Outcome]]:
    """Play honestly, but for the first message of a kind."""

    def role(local: PartyInputs, agreed: Agreement) -> Role[Outcome]:
        honest = training_role(local, agreed)
        effect: Effect = next(honest)
        while True:
            if isinstance(effect, Send) and isinstance(effect.message, kind) and not changed:
                effect = replace(effect, message=change(effect.message))
                changed.append(effect.message)
            answer = yield effect
            try:
                effect = honest.send(answer)
            except StopIteration as stop:
                outcome: Outcome = stop.value
                return outcome

    return role


@pytest.mark.parametrize("name", HOSTILE)
def test_what_the_terms_do_not_make_next_ends_the_run_for_good(pair: Pair, name: str) -> None:
    changed: list[Message] = []

    def calls(bob: Bob) -> None:
        bob.play(changing(*HOSTILE[name], changed), method="hybrid", omega=1)

    ended, bob = serve(pair, calls, "--once", seconds=20)
    assert len(changed) == 1, ended.err
    assert all(isinstance(error, PeerError) for error in bob.errors)
    assert len(bob.errors) == 1
    assert ended.code == 3, ended.err
    (line,) = problems(ended)
    assert re.search("peer", line)
    assert "Both parties hold the same tree" not in ended.err
    assert not (pair.alice / "model.json").exists()
    (record,) = recorded_runs(pair.alice, load_secret(pair.alice))
    assert record.state is RunState.ABORTED


def test_the_same_peer_without_a_change_ends_well(pair: Pair) -> None:
    """The control: only the change is refused."""

    def calls(bob: Bob) -> None:
        bob.play(training_role, method="hybrid", omega=1)

    ended, bob = serve(pair, calls, "--once", seconds=20)
    assert not bob.errors, ended.err
    assert ended.code == 0, ended.err
