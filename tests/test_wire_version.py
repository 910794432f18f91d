"""Messages that have changed bear another version: two releases must not take each other's bytes for their own."""

import hashlib
import json
from pathlib import Path

from party.transport.grpc.status import WIRE_VERSION
from party.wire.v1 import node_pb2
from protocols.two_party.agreement import VERSION

VERSIONS = json.loads((Path(__file__).parent / "vectors" / "wire_versions.json").read_text("utf-8"))["versions"]


def test_every_version_of_the_messages_has_its_number() -> None:
    """If this fails, the messages were changed: were they released under this number, take the next one.

    It stands in `party.transport.grpc.status` and `protocols.two_party.agreement`; the digest is added to the file
    above. Only the digest of a version that no release had is replaced.
    """
    assert VERSIONS[WIRE_VERSION] == hashlib.sha256(node_pb2.DESCRIPTOR.serialized_pb).hexdigest()
    assert max(VERSIONS, key=int) == WIRE_VERSION


def test_what_parties_say_on_meeting_is_of_the_same_version() -> None:
    assert f"cotally/{WIRE_VERSION}" == VERSION
