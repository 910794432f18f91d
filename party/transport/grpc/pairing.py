"""Pairing over the port of a node that serves nothing else meanwhile, in the clear: all that crosses is public."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Self, TypeVar

import grpc
from cryptography import x509

from party.closing import Closing
from party.errors import PeerLostError
from party.keys.pairing import Meeting, Pairing
from party.transport.clocks import REAL_TIME, Timer
from party.transport.grpc.probe import CLIENT_OPTIONS
from party.transport.grpc.server import server_options
from party.transport.grpc.status import StrictCalls, bound_address, status_told
from party.wire.codec import is_canonical, require_fast_protobuf
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from protocols.errors import PeerError

CODE_SECONDS: Final = 600.0
_CALL_SECONDS: Final = 20.0
_GRACE_SECONDS: Final = 1.0
_VERSION: Final = "1"
_MOST_OFFERS: Final = 16  # that wait for their proof; anybody may begin, and the oldest give way
_CONCURRENCY: Final = 4
_AGAIN: Final = "let the side that listens run `cotally pair` again, for a new code"

M = TypeVar("M", wire.PairingOffer, wire.PairingProof)
Accept = Callable[[x509.Certificate], None]


class PairingServer(node_pb2_grpc.PairingServicer, Closing):
    """A port on which one code may be tried once; made by `listen`, which opens it."""

    def __init__(self, code: str, certificate: x509.Certificate, accept: Accept, timer: Timer) -> None:
        self._code, self._certificate, self._accept, self._timer = code, certificate, accept, timer
        self._offers: OrderedDict[bytes, Meeting] = OrderedDict()
        self._trying = threading.Lock()
        self._tried: tuple[bytes, bytes] | None = None
        self._reply: wire.PairingProof | None = None
        self._failure: Exception | None = None
        self._ended = threading.Event()
        self._server: grpc.Server
        self.address = ""

    @classmethod
    def listen(
        cls, code: str, certificate: x509.Certificate, accept: Accept, address: str, *, timer: Timer = REAL_TIME
    ) -> Self:
        """Open the port."""
        require_fast_protobuf()
        pairing = cls(code, certificate, accept, timer)
        server = grpc.server(
            ThreadPoolExecutor(_CONCURRENCY, thread_name_prefix="pairing"),
            interceptors=[StrictCalls()],
            options=server_options(),
            maximum_concurrent_rpcs=_CONCURRENCY,
            compression=grpc.Compression.NoCompression,
        )
        node_pb2_grpc.add_PairingServicer_to_server(pairing, server)
        pairing.address = bound_address(address, server.add_insecure_port)
        pairing._server = server
        server.start()
        return pairing

    def wait(self, seconds: float = CODE_SECONDS) -> None:
        """Return when a caller has proved that it knows the code, and is accepted."""
        if not self._timer.wait(self._ended, seconds):
            raise PeerLostError(f"nobody has used the code within {seconds:g} s, and it is void: {_AGAIN}")
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Let calls in flight end, and free the port."""
        self._server.stop(grace=_GRACE_SECONDS).wait()

    def Offer(  # noqa: N802 - the wire's name
        self, request: wire.PairingOffer, context: grpc.ServicerContext
    ) -> wire.PairingOffer:
        """Begin an attempt, with a point of its own."""
        del context
        if request.version != _VERSION:
            raise PeerError(f"pairing has version {_VERSION} here")
        pairing = Pairing(self._code, self._certificate, calls=False)
        meeting = pairing.meet(request.point, request.certificate)
        with self._trying:
            self._offers[request.point] = meeting
            while len(self._offers) > _MOST_OFFERS:
                self._offers.popitem(last=False)
        return wire.PairingOffer(version=_VERSION, point=pairing.point, certificate=pairing.certificate)

    def Prove(  # noqa: N802 - the wire's name
        self, request: wire.PairingProof, context: grpc.ServicerContext
    ) -> wire.PairingProof:
        """Take the one guess; the same proof again gets the same reply."""
        del context
        with self._trying:
            meeting = self._offers.get(request.point)
            if meeting is None:
                raise PeerError("a proof without an offer")
            if self._tried is None:
                self._tried = request.point, request.proof
                self._try(meeting, request)
            if self._reply is None or self._tried != (request.point, request.proof):
                raise PeerError("the code has been tried")
            return self._reply

    def _try(self, meeting: Meeting, request: wire.PairingProof) -> None:
        try:
            self._accept(meeting.verify(request.proof))
            self._reply = wire.PairingProof(point=request.point, proof=meeting.proof)
        except PeerError as error:
            self._failure = PeerError(f"{error}; {_AGAIN}")
        except Exception as error:  # noqa: BLE001 - whatever it is, the code is void and `wait` raises it
            self._failure = error
        finally:
            self._ended.set()


def pair(code: str, certificate: x509.Certificate, address: str, *, seconds: float = _CALL_SECONDS) -> x509.Certificate:
    """Try a code where somebody listens for it, and return that side's certificate."""
    pairing = Pairing(code, certificate, calls=True)
    offer = wire.PairingOffer(version=_VERSION, point=pairing.point, certificate=pairing.certificate)
    options, without = CLIENT_OPTIONS, grpc.Compression.NoCompression
    with grpc.insecure_channel(address, options=options, compression=without) as channel:
        stub = node_pb2_grpc.PairingStub(channel)
        begun = _call(stub.Offer, offer, address, seconds)
        meeting = pairing.meet(begun.point, begun.certificate)
        request = wire.PairingProof(point=pairing.point, proof=meeting.proof)
        ended = _call(stub.Prove, request, address, seconds)
    return meeting.verify(ended.proof)


def _call(method: Callable[..., M], request: object, address: str, seconds: float) -> M:
    """Make one call, never repeated: the code is tried once."""
    try:
        reply = method(request, timeout=seconds, wait_for_ready=False)
    except grpc.RpcError as error:
        if status_told(error) in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
            raise PeerLostError(
                f"nobody waits for a code at {address}: run `cotally pair` there first, while no `serve` or other "
                "program has that port"
            ) from None
        raise PeerError(
            f"{address} has another code, which is void now, or does not accept us (its screen shows which): {_AGAIN}"
        ) from None
    if not is_canonical(reply, reply.SerializeToString()):
        raise PeerError(f"what answers at {address} sent a reply with unknown fields: nothing is pinned")
    return reply
