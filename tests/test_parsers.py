"""Every parser, on what it takes, on that with a few bytes changed, on any bytes, and on what the hunt has kept."""

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from party.wire.codec import ENTRIES, decode
from protocols.role import Message
from tests.support.examples import at_most
from tests.support.parsers import CORPUS, Parser, every_parser, kept

NAMES = (
    "frame", "page", "probe", "pairing-proof", "pairing-offer", "code", "points", "tree", "paillier-key",
    "paillier-ciphertexts", "paillier-counts", "party.toml",
    "job.toml", "design.toml", "survey.toml", "baskets.toml", "answers.csv", "disguised.csv", "baskets.txt",
    "sent.csv", "itemset", "expression", "table.csv", "table.parquet", "model.json", "report.json", "key.pem",
    "cert.pem", "bob.pem", "certificate", "paillier.key", "sealed.keys", "coins.json",
    "alignments.json", "ledger.sqlite", "journal.sqlite", "answer", "form",
)  # fmt: skip
FEW = settings(max_examples=at_most(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
CHANGES = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 8), st.binary(max_size=4)), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def parsers() -> Iterator[Mapping[str, Parser]]:
    with every_parser() as parsers:
        yield parsers


def mutated(content: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """Replace a few pieces by others."""
    for start, length, piece in changes:
        place = start % (len(content) + 1)
        content = content[:place] + piece + content[place + length :]
    return content


def test_the_list_of_parsers_is_whole_and_keeps_nothing_for_others(parsers: Mapping[str, Parser]) -> None:
    assert set(parsers) == set(NAMES)
    assert {path.stem for path in CORPUS.iterdir()} <= set(NAMES)


def test_what_each_is_made_for_is_read_and_what_the_hunt_has_kept_is_read_or_refused(
    parsers: Mapping[str, Parser],
) -> None:
    for name in NAMES:
        assert all(map(parsers[name].takes, parsers[name].examples)), name
        for content in kept(name):
            parsers[name].takes(content)


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(changes=CHANGES, any_bytes=st.binary(max_size=60), data=st.data())
def test_changed_and_arbitrary_bytes_are_read_or_refused_the_same_each_time(
    parsers: Mapping[str, Parser],
    name: str,
    changes: list[tuple[int, int, bytes]],
    any_bytes: bytes,
    data: st.DataObject,
) -> None:
    known = [*parsers[name].examples, *kept(name), b""]
    for content in (mutated(data.draw(st.sampled_from(known)), changes), any_bytes):
        assert parsers[name].takes(content) == parsers[name].takes(content)


def test_a_frame_of_every_kind_is_kept(parsers: Mapping[str, Parser]) -> None:
    read = [decode(frame, Message) for frame in kept("frame") if parsers["frame"].takes(frame)]
    assert {type(message) for message in read} == {entry.kind for entry in ENTRIES}
