"""What `serve --metrics` shows a monitoring system: what a node does, and none of its data.

A label is a word of this program: the page names no party, run, column, value or person, whatever a peer sends.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from party.errors import exit_code
from party.keys.certificates import Peer, utc_now
from party.names import Address
from party.node.metrics import NumbersByLabel
from party.records.ledger import entries_said
from party.transport.channel import PagedChannel, Traffic
from protocols.errors import CotallyError, InputError, NotApprovedError
from protocols.role import Phase, Progress

WAITING: Final = "waiting"
_NOT_APPROVED: Final = "approval"
_CODES: Final = (*map(str, range(6)), _NOT_APPROVED)
"""What a session may end with: the exit codes of SYMPTOMS.md, and that people have not approved its job."""
_NOTHING: Final = Traffic()


@dataclass(repr=False)
class Watched:
    """A node in numbers, which are taken when somebody asks.

    `since_contact` returns how many seconds ago the peer called; None if it has not.
    """

    folder: Path
    certificates: Callable[[], Sequence[Peer]]
    since_contact: Callable[[], float | None]
    _ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_CODES, 0), init=False)
    _phase: Phase | None = field(default=None, init=False)
    _traffic: tuple[int, int, Traffic] = field(default=(0, 0, _NOTHING), init=False)
    """Bytes sent and received in sessions that have ended, and those of the present one: changed at once."""

    def following(self, on_progress: Callable[[Progress], None]) -> Callable[[Progress], None]:
        """Return what takes note of the phase, and passes progress on."""

        def follow(progress: Progress) -> None:
            self._phase = progress.phase
            on_progress(progress)

        return follow

    @contextmanager
    def session(self, channel: PagedChannel) -> Iterator[None]:
        """Count a session by how it ends, unless it ends because the node does."""
        self._traffic = (*self._bytes(), channel.traffic)
        try:
            yield
            self._ended["0"] += 1
        except NotApprovedError:
            self._ended[_NOT_APPROVED] += 1
            raise
        except Exception as error:
            self._ended[str(exit_code(error) if isinstance(error, CotallyError) else 1)] += 1
            raise
        finally:
            self._phase = None
            self._traffic = (*self._bytes(), _NOTHING)

    def _bytes(self) -> tuple[int, int]:
        sent, received, now = self._traffic
        return sent + now.bytes_sent, received + now.bytes_received

    def rows(self) -> Iterator[NumbersByLabel]:
        """Yield all numbers; what cannot be read now is left out."""
        what = "Sessions that have ended, by exit code, or as people have not approved the job"
        yield "cotally_sessions_total", what, "code", self._ended
        now = WAITING if self._phase is None else self._phase.name.lower()
        phases = [WAITING, *(each.name.lower() for each in Phase)]
        yield "cotally_phase", "1 for what the node is busy with", "phase", {each: each == now for each in phases}
        crossed = dict(zip(("sent", "received"), self._bytes(), strict=True))
        yield "cotally_bytes_total", "Bytes of messages", "direction", crossed
        if (since := self.since_contact()) is not None:
            yield "cotally_contact_age_seconds", "Seconds since the peer has called", "", {"": since}
        left = [(each.certificate.not_valid_after_utc - utc_now()) / timedelta(days=1) for each in self.certificates()]
        of = dict(zip(("own", "peer"), left, strict=True))
        yield "cotally_certificate_days", "Days until certificates expire", "of", of
        with suppress(InputError):
            yield "cotally_ledger_entries", "Entries of the ledger", "", {"": entries_said(self.folder)}


def metrics_line(address: Address) -> str:
    return f"Metrics are at http://{address}/metrics"
