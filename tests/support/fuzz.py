"""A hunt for bytes that a parser neither reads nor refuses, led by what each run of it covers: for `scripts/fuzz`.

Each parser is hunted by atheris in a process of its own, from its examples and what is kept for it. Of what leads along
a new path the shortest are kept in turn. The exit code is 1 where there is a fault: its bytes are kept too, so that the
tests fail until it is mended.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

MOST_KEPT: Final = 30
LONGEST_KEPT: Final = 1500
_LIMITS: Final = ("-max_len=4096", "-timeout=20", "-rss_limit_mb=4096", "-verbosity=0")


def hunt(name: str, examples: Sequence[bytes], seconds: int) -> bool:
    """Hunt for faults of one parser; tell whether there is none."""
    from tests.support.parsers import keep, kept  # the one that hunts has to load it otherwise

    with TemporaryDirectory(prefix="cotally-fuzz-") as place:
        folder = Path(place)
        seeds, found = folder / "seeds", folder / "found"
        for part in (seeds, found):
            part.mkdir()
        known = kept(name)
        for number, content in enumerate([*examples, *known]):
            (seeds / str(number)).write_bytes(content)
        limits = [f"-max_total_time={seconds}", f"-artifact_prefix={folder}/fault-"]
        words = [
            sys.executable,
            "-m",
            "tests.support.fuzz",
            "--parser",
            name,
            *_LIMITS,
            *limits,
            str(found),
            str(seeds),
        ]
        there = {**os.environ, "TMPDIR": place}
        ended = subprocess.run(words, capture_output=True, text=True, errors="replace", env=there, check=False)
        faults = [path.read_bytes() for path in folder.glob("fault-*")]
        paths = sorted((path.read_bytes() for path in found.iterdir()), key=len)
        new = [content for content in paths if len(content) <= LONGEST_KEPT and content not in known]
        keep(name, [*known, *new[: max(0, MOST_KEPT - len(known))], *faults])
        told = ended.stderr[-4000:] if ended.returncode else ""
        sys.stdout.write(f"{told}{name}: {len(paths)} new paths, {len(faults)} faults\n")
        sys.stdout.flush()
        return not ended.returncode


def let_loose(name: str, options: Sequence[str]) -> None:
    """Let libFuzzer loose on one parser; this process ends with it."""
    import atheris  # type: ignore[import-untyped]  # on Linux alone, and installed by the script

    with atheris.instrument_imports(include=["party", "protocols"]):
        from tests.support.parsers import every_parser  # what is loaded here is watched

    with every_parser() as parsers:
        takes = parsers[name].takes

        def one(content: bytes) -> None:
            takes(content)

        atheris.Setup([sys.argv[0], *options], one)
        atheris.Fuzz()


def main(words: Sequence[str]) -> int:
    """Hunt for this many seconds, 60 unless told otherwise, in each of the named parsers, or in all."""
    from tests.support.parsers import every_parser

    with every_parser() as parsers:
        examples = {name: parsers[name].examples for name in words[1:] or parsers}
    seconds = int(words[0]) if words else 60
    well = [hunt(name, known, seconds) for name, known in examples.items()]
    return 0 if all(well) else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--parser"]:
        let_loose(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main(sys.argv[1:]))
