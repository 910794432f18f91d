"""What the collector of a survey reads on the screen."""

from collections.abc import Iterator
from pathlib import Path

from party.survey.web.store import StoreStatus, SurveyStage

STAGES = {
    SurveyStage.OPEN: "open: each answer stands beside the digest of its code",
    SurveyStage.CLOSED: "closed: no code is kept",
}


def drafted_lines(folder: Path) -> list[str]:
    """Say what a new survey has, and what comes next."""
    settings = folder / "survey.toml"
    return [
        f"{settings} and {folder / 'design.toml'} are written: every key is explained there.",
        f"Next: `cotally privacy {folder / 'design.toml'}` tells what it discloses; then",
        f"  cotally survey links {settings} --number 100 -o links.csv",
        f"  cotally survey serve {settings}",
    ]


def links_line(number: int, path: Path) -> str:
    """Say where new links are."""
    return (
        f"{number:,} links are in {path}, for whoever sends them out alone: only their digests are kept here. "
        "Each is for one person, whose later answer takes the place of an earlier one until the survey closes."
    )


def serving_lines(address: str, listen: str, digest: str, enough: int | None) -> Iterator[str]:
    """Say where a survey is served, and by what others can tell that they get the same page."""
    yield f"The survey listens on {listen}; links begin with {address}"
    yield f"The page's SHA-256 is {digest}, whoever loads it."
    if enough is not None:
        yield f"It closes with {enough:,} answers."


def live_line(address: str, every: int) -> str:
    """Say where results are served."""
    return f"Results are at {address} on this machine alone, and loaded anew every {every} seconds."


def collected_lines(status: StoreStatus) -> Iterator[str]:
    """Say how far a survey is."""
    yield f"The survey is {STAGES[status.stage]}."
    yield f"{status.answered:,} answers" + (f", {status.links:,} links" if status.links else "")


def closed_line(answered: int) -> str:
    """Say what closing did."""
    return f"The survey is closed with {answered:,} answers. No code is kept, and nothing ties an answer to one."


def page_lines(path: Path, digest: str) -> list[str]:
    """Say where a page is, for whoever wants to read it."""
    return [f"{path}  SHA-256 {digest}"]


def exported_line(records: int, path: Path, design: Path) -> str:
    """Say where the answers are, and what reads them."""
    return f"{records:,} disguised answers are in {path}: `cotally estimate {path} {design} EXPRESSION` reads them."
