"""Parsers of what a peer or a stranger sends, each with bytes that it takes."""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from google.protobuf.message import DecodeError

from party.keys.pairing import Pairing, new_code, read_spoken_code
from party.transport.grpc.probe import _sight
from party.transport.grpc.status import page_from_wire, page_to_wire
from party.transport.pages import SMALLEST_PAGE, Page, Reason
from party.wire.codec import decode, encode
from party.wire.v1 import node_pb2 as wire
from protocols import messages as m
from protocols.ciphers.paillier.arithmetic import Integer
from protocols.ciphers.paillier.cipher import PaillierKeyHolder
from protocols.ciphers.paillier.keys import PrivateKey
from protocols.ciphers.port import AnyKeyHolder, Reply, Shape
from protocols.errors import PeerError
from protocols.messages import SentTree
from protocols.oblivious.curve import NotAPointError, read_points, write_points
from protocols.role import Message
from protocols.secret_tree.bits import Allowance
from protocols.terms import TO_THE_END
from protocols.two_party.equality import hidden_content
from protocols.two_party.mined import receive_mined
from tests.support.duel import replay
from tests.support.plain import schema_of

Reader = tuple[str, Callable[[bytes], object], tuple[bytes, ...]]

CONTEXT = b"a run and a side"
OWN = PrivateKey(Integer(0xF00000000000002B), Integer(0xF800000000000027))
THEIRS = PrivateKey(
    Integer(0xC0000172EBAD6DDC73C86D67C5FAA71C245689C1079502400000000000000057),
    Integer(0xD235FADD81C2822BB3F07877973D50F28BF22A31BE8EE80000000000000000FB),
)
PAIRS: dict[str, tuple[AnyKeyHolder, AnyKeyHolder]] = {"paillier": (PaillierKeyHolder(OWN), PaillierKeyHolder(THEIRS))}
LARGEST = 40
SCHEMA = schema_of((2, 2, 2), 2, alice=1)
TREES = ((~0,), (0, ~1, ~0))


class Seeded:
    """Gives the same examples every time."""

    def __init__(self) -> None:
        self._random = Random(5)

    def randbelow(self, bound: int, /) -> int:
        return self._random.randrange(bound)


def frame_readers(certificate: x509.Certificate) -> Iterator[Reader]:
    """Yield what reads frames, calls, keys, ciphertexts, points and trees."""
    frames = (m.ExactCounts((3, 4)), m.DisguisedPage(b"\0\1"), m.Verdict("theta"))
    yield "frame", _frame, tuple(map(encode, frames))
    pages = (
        Page(b"a", last=True, ledger=m.SignedHead(3, bytes(32), b"signed")),
        Page(end=Reason.DEVIATION),
        Page(bytes(SMALLEST_PAGE)),
    )
    yield "page", _page, tuple(page_to_wire(each, 3).SerializeToString() for each in pages)
    sight = wire.ProbeReply(version="1", release="0.2.0", clock=1, caller="bob").SerializeToString()
    yield "probe", lambda data: _sight(_parsed(wire.ProbeReply, data), "bob"), (sight,)
    yield from _pairing(certificate)
    for name, (own, theirs) in PAIRS.items():
        yield f"{name}-key", partial(own.read_peer, floor_bits=64, context=CONTEXT), (theirs.announce(CONTEXT),)
        yield from _ciphertexts(name, own)
    points = hidden_content(7, "ann") + hidden_content(7, "bob")
    yield "points", _points, (points, points[:33])
    yield "tree", _tree, tuple(encode(SentTree(nodes)) for nodes in TREES)


def _frame(data: bytes) -> None:
    assert encode(decode(data, Message)) == data


def _parsed(kind: Any, data: bytes) -> Any:
    try:
        return kind.FromString(data)
    except DecodeError:
        raise PeerError("gRPC refuses it") from None


def _page(data: bytes) -> None:
    page = page_from_wire(_parsed(wire.Page, data))
    assert page.end is None or not page.body
    assert page.ledger is None or (page.last and page.ledger.entries > 0)


def _pairing(certificate: x509.Certificate) -> Iterator[Reader]:
    code = read_spoken_code(new_code(lambda _: 4_711_000))
    begun = Pairing(code, certificate, calls=True)

    def meet(data: bytes) -> None:
        met = Pairing(code, certificate, calls=False).meet(data[32:65], data[65:])
        met.verify(data[:32])
        raise AssertionError("a proof by luck")

    def begin(data: bytes) -> None:
        Pairing(code, certificate, calls=False).meet(data[:33], data[33:])

    yield "pairing-proof", meet, ()
    yield "pairing-offer", begin, (begun.point + certificate.public_bytes(Encoding.DER),)
    yield "code", lambda data: read_spoken_code(data.decode("utf-8", "replace")), (code.encode(),)


def _ciphertexts(name: str, own: AnyKeyHolder) -> Iterator[Reader]:
    (page,) = own.encryption(Seeded()).encrypt_pages([[1, 0, 1]])
    yield f"{name}-ciphertexts", own.public.read, (page,)
    items = Reply(own.public.read(page), 1)
    sealed = own.public.seal([items], LARGEST, Seeded())

    def counts(data: bytes) -> None:
        found = own.counts(data, [Shape(3, 1)], LARGEST)
        assert len(found) == 3
        assert all(0 <= count <= LARGEST for count in found)

    yield f"{name}-counts", counts, (sealed,)


def _points(data: bytes) -> None:
    try:
        assert write_points(read_points(data)) == data
    except NotAPointError:
        raise PeerError("as a comparison says it") from None


def _tree(data: bytes) -> None:
    end = replay(receive_mined(SCHEMA, 1000, TO_THE_END, Allowance(SCHEMA, None)), [decode(data, SentTree)])
    if end.error is not None:
        raise end.error
    assert end.result is not None
