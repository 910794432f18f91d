"""A node without our server, for peers that are hostile or faulty: it answers as it is told."""

import time
from collections.abc import Iterator

import grpc

from party.transport.pages import PAGE_BYTES, SMALLEST_PAGE
from party.wire.v1 import node_pb2 as wire
from party.wire.v1 import node_pb2_grpc
from tests.support.rpc import WIRE_VERSION

END = wire.LedgerEnd(entries=1, digest=bytes(32), signature=bytes(70))
BAD_PAGES = {
    "empty": wire.Page(last=True),
    "nothing": wire.Page(),
    "short but not the last": wire.Page(body=b"a"),
    "the end of a ledger before the last": wire.Page(body=bytes(SMALLEST_PAGE), ledger=END),
    "the end of an empty ledger": wire.Page(body=b"a", last=True, ledger=wire.LedgerEnd(digest=bytes(32))),
    "half a ledger's end": wire.Page(
        body=b"a", last=True, ledger=wire.LedgerEnd(entries=1, digest=bytes(16), signature=b"s")
    ),
    "an end that nobody has signed": wire.Page(
        body=b"a", last=True, ledger=wire.LedgerEnd(entries=1, digest=bytes(32))
    ),
    "an end of both": wire.Page(end=wire.END_FINISHED, ledger=END),
    "too long": wire.Page(body=bytes(PAGE_BYTES + 1), last=True),
    "an end with a body": wire.Page(body=b"a", end=wire.END_FINISHED),
    "an end of a frame": wire.Page(last=True, end=wire.END_FINISHED),
    "an end unheard of": wire.Page(end=99),  # type: ignore[arg-type]
    "a body with an end unheard of": wire.Page(body=b"a", last=True, end=99),  # type: ignore[arg-type]
}


class Responder(node_pb2_grpc.NodeServicer):
    """A node that answers as it is told, and counts."""

    def __init__(self) -> None:
        self.opens: list[wire.OpenRequest] = []
        self.pushes: list[wire.PushRequest] = []
        self.pulls: list[int] = []
        self.version = WIRE_VERSION
        self.intends = True
        self.open_codes: Iterator[grpc.StatusCode] = iter(())
        self.push_codes: Iterator[grpc.StatusCode] = iter(())
        self.pages: Iterator[wire.PullReply | grpc.StatusCode] = iter(())

    def Open(self, request: wire.OpenRequest, context: grpc.ServicerContext) -> wire.OpenReply:  # noqa: N802
        self.opens.append(request)
        self._fail_by(next(self.open_codes, None), context)
        return wire.OpenReply(version=self.version)

    def Push(self, request: wire.PushRequest, context: grpc.ServicerContext) -> wire.PushReply:  # noqa: N802
        self.pushes.append(request)
        self._fail_by(next(self.push_codes, None), context)
        return wire.PushReply()

    def Pull(self, request: wire.PullRequest, context: grpc.ServicerContext) -> wire.PullReply:  # noqa: N802
        self.pulls.append(request.sequence)
        reply = next(self.pages, None)
        if isinstance(reply, wire.PullReply):
            return reply
        self._fail_by(reply, context)
        time.sleep(0.1)
        return wire.PullReply()

    def _fail_by(self, code: grpc.StatusCode | None, context: grpc.ServicerContext) -> None:
        """Refuse a call, with the mark of a node that intends it or as a broken line does."""
        if code is not None:
            if self.intends:
                context.set_trailing_metadata((("cotally-status", "1"),))
            context.abort(code, "canary 4711")
