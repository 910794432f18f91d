"""Errors of the core, in one hierarchy that says whose fault it was.

CotallyError
├── InputError            ours: an argument, a table or a design that cannot be used
│   └── TermError         a term that no run can have (`protocols.terms`)
└── PeerError             the peer's: a message of the wrong kind or shape
    ├── DisagreementError the parties differ on a field that must be the same at both
    │   └── NotApprovedError  nothing differs, but people decide about the job and have not approved it
    └── DeviationError    a check failed: the session is over for good (FAULTS A7)

No message holds a value of a record, a key or a coin.
"""


class CotallyError(Exception):
    """Any error that cotally raises on purpose; its text is fit for a user's screen."""


class InputError(CotallyError):
    """What the caller gave cannot be used; the text names it and the legal range, `field` the one parameter."""

    def __init__(self, problem: str, *, field: str | None = None) -> None:
        super().__init__(problem if field is None else f"{field} {problem}")
        self.problem, self.field = problem, field


class PeerError(CotallyError):
    """The peer sent something that the protocol does not allow."""


class DisagreementError(PeerError):
    """The parties differ on a field that must be the same at both; of the records, at most class counts have left."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"the parties differ on {field!r}: {reason}")
        self.field = field


class NotApprovedError(DisagreementError):
    """The terms suit both, but people of one side decide about the job by hand, or it was only proposed."""

    def __init__(self, field: str, reason: str, *, by_peer: bool = False) -> None:
        super().__init__(field, reason)
        self.args, self.by_peer = (reason,), by_peer

    @property
    def waits(self) -> bool:
        """Whether nobody has refused it, so that it may run later."""
        return self.field == "approval"


class DeviationError(PeerError):
    """A check on the peer's reply failed; one text for all, or it would answer questions about our key (FAULTS A7)."""

    def __init__(self) -> None:
        super().__init__("the peer's reply failed a check: the run is over; find the cause before starting another")
