"""How a demo fails once it has begun."""

from protocols.errors import CotallyError


class DemoError(CotallyError):
    """A demo failed; `code` is the exit code."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


class PartyFailedError(DemoError):
    """A party's process failed: its own line of error and exit code are passed on."""

    def __init__(self, party: str, error: str, code: int | None) -> None:
        super().__init__(f"{party}: {error or 'ended without a word'}", code if code is not None and code > 0 else 1)
