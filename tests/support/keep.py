"""Keep what this release writes and sends, for the tests of later ones: `python -m tests.support.keep`, at its release.

Makes two parties by the commands, lets them align, train and predict together, and a survey; puts their files into
`tests/party/records/kept/VERSION.tar.xz`, and the shortest frame of each kind into `tests/vectors/frames.json`.
"""

import io
import json
import lzma
import random
import re
import tarfile
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from party.transport.channel import PagedChannel, Recording
from party.wire.codec import ENTRIES
from party.wire.v1 import node_pb2 as wire
from protocols.two_party.agreement import SPOKEN, versions_text
from tests.support.processes import QUIET, Pair, cotally_here, finish, make_pair, make_trusting, start

TESTS = Path(__file__).parents[1]
FRAMES, KEPT = TESTS / "vectors" / "frames.json", TESTS / "party" / "records" / "kept"
_MOST = 1500
_JOBS = (
    {"reveal": "tree", "method": "smc", "splits": "two-way", "omega": None, "theta": None, "min_leaf": 20},
    {"method": "hybrid", "omega": 1},
    {"method": "hybrid", "omega": 2, "counting": "paillier"},
)


def main() -> None:
    recordings: list[Recording] = []
    made = PagedChannel.__init__

    def recorded(channel: PagedChannel, *parts: object, **named: object) -> None:
        made(channel, *parts, **named)  # type: ignore[arg-type]  # as they came
        channel.recording = Recording()
        recordings.append(channel.recording)

    with TemporaryDirectory() as name, patch.object(PagedChannel, "__init__", recorded):
        trusting, folder = Path(name, "trusting"), Path(name, "pair")
        pair = make_pair(make_trusting(trusting), folder, _table("jobs", 0), _table("class", 20))
        for job in _JOBS:
            _together(pair, *pair.train_arguments(pair.write_job(test="1/4", max_depth=2, **job), *QUIET))
        new = pair.bob / "new.csv"
        new.write_text("id,class,owns\n" + "".join(f"q{number},good,yes\n" for number in range(5)))
        _run("survey", "new", folder / "open", "--question", "Do you smoke? = yes, no")
        _run("survey", "links", folder / "open" / "survey.toml", "--number", 3, "-o", folder / "links.csv")
        _pack(folder)
    _keep([frame for each in recordings for frame in (*each.sent, *each.received)])


def _table(which: str, first: int) -> tuple[list[str], list[list[str]]]:
    chance = random.Random(which)
    columns = {"jobs": ["job", "sex"], "class": ["owns", "class"]}[which]
    values = {"job": "clerk nurse", "sex": "f m", "owns": "yes no", "class": "good bad"}
    return columns, [[chance.choice(values[each].split()) for each in columns] for _ in range(first, 140)]


def _together(pair: Pair, *words: str) -> None:
    with start(*pair.serve_arguments("--once")) as serving:
        try:
            assert serving.stderr is not None
            (address,) = re.findall(r"127\.0\.0\.1:\d+", serving.stderr.readline())
            settings = pair.bob / "party.toml"
            line = f'address = "{address}"'
            settings.write_text(re.sub(r"(?m)^(# )?address = .*$", line, settings.read_text()))
            _run(*words)
            finish(serving)
        finally:
            serving.kill()


def _run(*words: object) -> None:
    ended = cotally_here(*map(str, words))
    assert ended.code == 0, ended.err


def _pack(folder: Path) -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(
            path for name in ("alice", "bob", "open") for path in (folder / name, *(folder / name).rglob("*"))
        ):
            if not path.name.endswith("-shm"):
                info = archive.gettarinfo(path, str(path.relative_to(folder)))
                info.uid = info.gid = 0
                info.uname = info.gname = ""
                archive.addfile(info, io.BytesIO(path.read_bytes()) if path.is_file() else None)
    (KEPT / f"{version('cotally')}.tar.xz").write_bytes(lzma.compress(raw.getvalue(), preset=9))


def _keep(frames: list[bytes]) -> None:
    spoken = versions_text(SPOKEN)
    opens = wire.OpenRequest(version=spoken, session=bytes(16)), wire.OpenReply(version=str(SPOKEN[0]))
    found = {type(each).__name__: each.SerializeToString().hex() for each in opens}
    for entry in ENTRIES:
        shortest = min((frame for frame in frames if frame.startswith(entry.start)), key=len, default=bytes(_MOST))
        if len(shortest) < _MOST:
            found[entry.kind.__name__] = shortest.hex()
    kept = json.loads(FRAMES.read_text())
    FRAMES.write_text(json.dumps({**kept, version("cotally"): found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
