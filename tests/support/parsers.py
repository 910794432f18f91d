"""Every parser of bytes that somebody else may have written, as a function of bytes, with examples that it takes.

A parser gives a value, or an error of one line for the screen or the peer; whatever else it raises is a fault.
`scripts/fuzz` hunts for such bytes; what it keeps in `tests/corpus` is read again by `tests/test_parsers.py`.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from party.keys.identity import load_peers
from party.survey.web.submissions import RefusedError
from protocols.errors import CotallyError
from tests.support.parsed_files import file_readers, survey_readers
from tests.support.parsed_frames import frame_readers

CORPUS: Final = Path(__file__).parents[1] / "corpus"


@dataclass(frozen=True)
class Parser:
    """A parser: what it is called by, and what it takes, the first of it usual."""

    read: Callable[[bytes], object]
    examples: tuple[bytes, ...]

    def takes(self, content: bytes) -> bool:
        """Tell whether these bytes are read; a fault is raised as it comes."""
        try:
            self.read(content)
        except (CotallyError, RefusedError) as error:
            told = str(error)
        else:
            return True
        assert "\n" not in told, told
        return False


@contextmanager
def every_parser() -> Iterator[Mapping[str, Parser]]:
    """Yield all parsers by name; their files stand in a folder that is removed at the end."""
    with TemporaryDirectory(prefix="cotally-parsers-") as place:
        files = list(file_readers(Path(place)))
        certificate = load_peers(Path(place))["bob"].certificate
        every = [*frame_readers(certificate), *files, *survey_readers()]
        yield {name: Parser(read, examples) for name, read, examples in every}


def kept(name: str) -> list[bytes]:
    """Return what is kept for a parser: bytes that have led it along another path."""
    path = CORPUS / f"{name}.txt"
    return [base64.b64decode(line, validate=True) for line in path.read_text("ascii").split()] if path.exists() else []


def keep(name: str, contents: list[bytes]) -> None:
    """Keep these bytes, and no others, for a parser."""
    short_first = sorted(set(contents) - {b""}, key=lambda content: (len(content), content))
    CORPUS.mkdir(exist_ok=True)
    lines = "".join(f"{base64.b64encode(content).decode()}\n" for content in short_first)
    (CORPUS / f"{name}.txt").write_text(lines)
