"""Errors of the outer half: what files, settings, keys and the connection can do wrong.

CotallyError
├── InputError                 ours; exit code 2
│   ├── DataError              a table's file
│   │   └── AbsentColumnError  a column that is not there
│   ├── ConfigError            the settings
│   ├── IdentityError          keys and certificates
│   │   └── DatesError         a certificate outside its dates by some clock, which may be wrong
│   ├── StoreError             the store of a survey's answers
│   ├── TermError              a term that no run can have (`protocols.terms`)
│   ├── WorkerError            worker processes or the cluster (`party.compute.pool`)
│   ├── LedgerError            the ledger's file (`party.records.ledger`)
│   ├── JournalError           the journal's file (`party.records.journal`)
│   ├── RunCancelledError      a run that was cancelled here
│   ├── ModelError             a model's file (`party.models.strict_json`)
│   └── ReportError            the report of a run (`party.records.run_file`)
├── PeerError                  the peer's; exit code 3
│   ├── PeerLostError          it is absent or gone
│   ├── PeerStoppedError       it ended the run and said why
│   │   ├── PeerCancelledError it gave the run up
│   │   ├── PeerPausedError    it will go on with it
│   │   └── PeerAbortedError   it found a deviation
│   ├── PausedError            a run that goes on when both meet again; exit code 4
│   ├── NotNowError            no room for its call yet (`party.transport.grpc.status`)
│   ├── UnknownSessionError    its call belongs to no session (`party.transport.grpc.status`)
│   ├── OutOfOrderError        its page is not the next (`party.transport.grpc.status`)
│   ├── DisagreementError      the parties differ on a field (`protocols.errors`); exit code 5
│   │   └── NotApprovedError   people have not approved the job (`protocols.errors`)
│   └── DeviationError         a check failed (`protocols.errors`)
├── StoppedHereError           our own role ended the session (`party.transport.grpc.status`)
└── DemoError                  a demo failed; with its own exit code (`party.demo.options`)
    └── PartyFailedError       one of its parties did (`party.demo.options`)

No message holds an id, the content of a cell or a key.
"""

from pathlib import Path
from typing import Final

from protocols.errors import CotallyError, DisagreementError, InputError, PeerError


class DataError(InputError):
    """A table's file cannot be used: the text names file, line and column, never a cell's content."""

    def __init__(
        self,
        problem: str,
        *,
        path: Path | str | None = None,
        line: int | None = None,
        column: str | None = None,
    ) -> None:
        place = [] if path is None else [str(path)]
        place += [] if line is None else [f"line {line}"]
        place += [] if column is None else [f"column {column!r}"]
        super().__init__(": ".join([", ".join(place), problem]) if place else problem)
        self.path = path
        self.line = line
        self.column = column


class AbsentColumnError(DataError):
    """A file lacks a column that is needed; `owner` is the party whose column it is, where two have some."""

    def __init__(self, problem: str, *, path: Path | str, column: str, owner: str | None) -> None:
        super().__init__(problem, path=path, column=column)
        self.owner = owner


class ConfigError(InputError):
    """A setting is missing, unknown or out of its range."""


class IdentityError(InputError):
    """A key or a certificate cannot be used."""


class DatesError(IdentityError):
    """A certificate is outside its dates; or the clock that says so is wrong."""


class StoreError(InputError):
    """The store of a survey's answers cannot be read or written."""


class PeerLostError(PeerError):
    """The peer is absent or gone."""


class PeerStoppedError(PeerError):
    """The peer ended the run and said why."""


class PeerCancelledError(PeerStoppedError):
    """The peer gave the run up."""


class PeerPausedError(PeerStoppedError):
    """The peer ended the run for now."""


class PeerAbortedError(PeerStoppedError):
    """The peer ended the run for good: what we sent failed a check."""


class PausedError(PeerError):
    """A run that has begun cannot go on now; it goes on when both meet again."""


class RunCancelledError(InputError):
    """A run was cancelled here."""


_EXIT_CODES: Final = ((PausedError, 4), (DisagreementError, 5), (PeerError, 3), (CotallyError, 2))


def exit_code(error: CotallyError) -> int:
    """Return the exit code of the command line (SYMPTOMS has the table): the first in the list that fits."""
    return next(code for kind, code in _EXIT_CODES if isinstance(error, kind))
