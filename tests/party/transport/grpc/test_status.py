"""Errors across the wire: the tables are total, no text of ours crosses, and a call's body has one form."""

import logging

import grpc
import pytest

from party.errors import DataError, IdentityError, PeerLostError, PeerStoppedError
from party.transport.grpc.status import (
    STATUS,
    STOPS,
    WIRE_VERSION,
    NotNowError,
    StoppedHereError,
    _read,
    refused,
    status_of,
)
from party.transport.pages import Reason, Sparingly
from party.wire.v1 import node_pb2 as wire
from protocols.errors import CotallyError, DeviationError, InputError, PeerError
from tests.support.timer import SkippingTimer

Code = grpc.StatusCode
OPEN = wire.OpenRequest(version=WIRE_VERSION, session=bytes(16))
BODY = OPEN.SerializeToString()


def subclasses(kind: type) -> set[type]:
    found = {kind}
    each: type
    for each in kind.__subclasses__():
        found |= subclasses(each)
    return found


def test_no_text_of_an_error_crosses(caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [
        PeerError("4711"), InputError("4711"), DataError("4711", path="4711"), IdentityError("4711"),
        PeerLostError("4711"), PeerStoppedError("4711"), NotNowError("4711"), DeviationError(),
        StoppedHereError(Reason.DEVIATION), ValueError("4711"), KeyError("4711"),
    ]  # fmt: skip
    with caplog.at_level(logging.CRITICAL):
        texts = [status_of(error)[1] for error in errors]
    assert not any("4711" in text for text in texts if "incident" not in text)
    assert all("incident" in text for text in texts[-2:])


def test_what_a_peer_is_refused_again_and_again_is_noted_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    timer = SkippingTimer()
    said = Sparingly(timer)
    with caplog.at_level(logging.INFO):
        for lines in (2, 4):
            for _ in range(50):
                status_of(PeerError("a page is out of order"), said)
                status_of(IdentityError("a key that is not pinned"), said)
            assert len(caplog.records) == lines
            timer.skip(60.0)


def test_the_tables_are_total() -> None:
    assert all("bob" in str(refused(code, "bob", "")) for code in set(Code) - {Code.OK})
    assert set(STOPS) == set(Reason)
    for error in subclasses(CotallyError):
        assert any(kind in STATUS for kind in error.__mro__)
    assert status_of(DataError("ours"))[0] is Code.INTERNAL
    assert status_of(NotNowError())[0] is Code.RESOURCE_EXHAUSTED
    assert _read(BODY, wire.OpenRequest.FromString) == OPEN
    for body in (BODY + b"\x78\x01", BODY * 2, BODY[:-1], b"\xff" * 9):
        with pytest.raises(PeerError, match="a call's body"):
            _read(body, wire.OpenRequest.FromString)
