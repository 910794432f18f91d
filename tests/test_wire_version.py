"""Messages that have changed bear another version: two releases must not take each other's bytes for their own.

`frames.json` holds, of each release, the shortest frame of each kind that crossed between two of its nodes, and what a
session was opened with (`tests.support.keep`).
"""

import hashlib
import json
from pathlib import Path

import pytest

from party.wire.codec import ENTRIES, decode, encode
from party.wire.v1 import node_pb2
from protocols.errors import PeerError
from protocols.messages import Greeting
from protocols.role import Message
from protocols.two_party.agreement import SPOKEN, common_version
from tests.support.rpc import KEPT_FRAMES

VERSIONS = json.loads((Path(__file__).parent / "vectors" / "wire_versions.json").read_text("utf-8"))["versions"]


def test_every_version_of_the_messages_has_its_number() -> None:
    """If this fails, the messages were changed: were they released under this number, take the next one.

    It stands in `protocols.two_party.agreement`; the digest is added to the file above. Only the digest of a version
    that no release had is replaced.
    """
    assert VERSIONS[str(SPOKEN[0])] == hashlib.sha256(node_pb2.DESCRIPTOR.serialized_pb).hexdigest()
    assert max(map(int, VERSIONS)) == SPOKEN[0]


@pytest.mark.parametrize("release", ["0.1.0", "0.2.0"])
def test_a_frame_of_a_release_of_no_common_version_is_a_greeting_that_says_so_or_is_not_read(release: str) -> None:
    frames = KEPT_FRAMES[release]
    for frame in (frames[name] for name in frames if not name.startswith("Open")):
        try:
            version = decode(frame, Greeting).version
        except PeerError:
            continue
        assert version == f"cotally/{release[2]}"
        assert common_version(version.partition("/")[2]) is None


def test_a_frame_of_a_release_that_is_spoken_with_is_read_and_written_as_the_same_bytes() -> None:
    kinds = {entry.kind.__name__: entry.kind for entry in ENTRIES}
    frames = KEPT_FRAMES["0.3.0"]
    assert len(frames) > 20
    assert frames.keys() <= {*kinds, "OpenRequest", "OpenReply"}
    for name in frames.keys() & kinds.keys():
        message = decode(frames[name], Message)
        assert type(message) is kinds[name]
        assert encode(message) == frames[name]
