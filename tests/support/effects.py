"""What a real session does, effect by effect and in order: what is put on the disk, and what crosses."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from party.models.any_file import KeptModel
from party.node import players
from party.records.journal import Journal, RunRecord
from party.records.ledger import Ledger
from party.transport.channel import PagedChannel
from protocols.role import Part

ENTRY, SAVED, STATE, MODEL, PEOPLE = "entry", "saved", "state", "model", "people"
SENT, RECEIVED = "sent", "received"


@dataclass(frozen=True)
class Effect:
    """Something that a party has done: `what`, of which `kind`, and what else tells it from others of its kind."""

    what: str
    kind: str = ""
    content: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return f"{self.what} {self.kind} {self.content.get('way', '')}".strip()


Log = dict[str, list[Effect]]


@contextmanager
def recorded() -> Iterator[Log]:
    """Note the effects of each party, by its name: what is kept once it is on the disk, what leaves before it does."""
    log: Log = {}

    def note(party: str, effect: Effect) -> None:
        log.setdefault(party, []).append(effect)

    with (
        _after(Ledger, "append", lambda it, content: note(_owner(it), Effect(ENTRY, content["kind"], content))),
        _after(Journal, "keep", lambda it, _run, part, *_: note(_owner(it), Effect(SAVED, Part(part).name))),
        _after(Journal, "begin", lambda it, record: note(_owner(it), _state(record))),
        _after(Journal, "change", lambda it, run, *_, **__: note(_owner(it), _state(it.find(run)))),
        _after(KeptModel, "keep", lambda it, _: note(it.path.parent.name, Effect(MODEL, "kept"))),
        _after(KeptModel, "publish", lambda it: note(it.path.parent.name, Effect(MODEL, "published"))),
        _after(players, "keep_alignment", lambda folder, *_: note(folder.name, Effect(PEOPLE))),
        _before(PagedChannel, "send", lambda it, message: note(it._own, Effect(SENT, type(message).__name__))),
        _after(PagedChannel, "receive", lambda it, kind: note(it._own, Effect(RECEIVED, kind.__name__))),
    ):
        yield log


def _owner(records: Ledger | Journal) -> str:
    return records.path.parent.name


def _state(record: RunRecord | None) -> Effect:
    assert record is not None
    return Effect(STATE, "SETTLED" if record.settled else record.state.name)


@contextmanager
def _after(owner: Any, name: str, note: Callable[..., None]) -> Iterator[None]:
    original = getattr(owner, name)

    def noted(*arguments: Any, **named: Any) -> Any:
        result = original(*arguments, **named)
        note(*arguments, **named)
        return result

    with patch.object(owner, name, noted):
        yield


@contextmanager
def _before(owner: Any, name: str, note: Callable[..., None]) -> Iterator[None]:
    original = getattr(owner, name)

    def noted(*arguments: Any, **named: Any) -> Any:
        note(*arguments, **named)
        return original(*arguments, **named)

    with patch.object(owner, name, noted):
        yield
