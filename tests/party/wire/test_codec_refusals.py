"""What is never sent, and the library that is never used."""

import pytest
from google.protobuf.internal import api_implementation

from party.errors import ConfigError
from party.wire.codec import encode, require_fast_protobuf
from protocols import messages as m
from protocols.errors import InputError
from protocols.role import Message


@pytest.mark.parametrize(
    "message",
    [
        Message(),
        m.ModelDigest(bytes(31)),
        m.SentTree((2**31,)),
        m.ExactCounts((2**64,)),
        m.ExactCounts((-1,)),
        m.Verdict("\ud800"),
    ],
    ids=[
        "no kind",
        "length",
        "too large a node",
        "too large",
        "negative",
        "no text",
    ],
)
def test_what_a_peer_would_refuse_is_not_encoded(message: Message) -> None:
    with pytest.raises(InputError, match="cannot be sent"):
        encode(message)


def test_pure_python_protobuf_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    require_fast_protobuf()
    monkeypatch.setattr(api_implementation, "Type", lambda: "python")
    with pytest.raises(ConfigError, match="pure-Python"):
        require_fast_protobuf()
