"""The collector's server: uvicorn with TLS or behind a proxy; no log of calls, acknowledged answers on the disk."""

import socket
import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import uvicorn
from starlette.concurrency import run_in_threadpool

from party.errors import ConfigError
from party.names import Address
from party.settings.collector import ClosingSettings, ServerSettings
from party.survey.web.connections import USUAL_CONNECTIONS, ConnectionLimits, protocol_with
from party.survey.web.submissions import Cut
from protocols.randomized_response.design import Design
from protocols.randomized_response.sample_size import shares_sample_size

_SECONDS_BETWEEN_LOOKS = 2
_UNREAD_BYTES = 65536
"""More than a page; else the kernel keeps some megabytes for each who reads nothing."""
_WAITING = 128
"""So few are accepted at a time that each is read before too many others have come, and it is taken for idle."""


def answers_needed(design: Design, closing: ClosingSettings) -> int | None:
    """Return with how many answers every share has its wanted interval, fixed before there are any; None if unasked."""
    if closing.half_width is None:
        return None
    return shares_sample_size(design, closing.half_width, float(closing.confidence)).records


def on_this_machine(settings: ServerSettings) -> ServerSettings:
    """Return settings for a server that only this machine can reach, at any port, without TLS."""
    return replace(settings, listen=Address("127.0.0.1", 0), certificate=None, key=None, proxies=())


def run_server(
    app: Any,
    settings: ServerSettings,
    ready: Callable[[Address], None],
    look: Callable[[], None] = lambda: None,
    cut: Callable[[Cut], None] = lambda _: None,
    limits: ConnectionLimits = USUAL_CONNECTIONS,
) -> None:
    """Serve until a signal ends it."""

    async def notify() -> None:
        await run_in_threadpool(look)

    config = uvicorn.Config(
        app,
        callback_notify=notify,
        timeout_notify=_SECONDS_BETWEEN_LOOKS,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        http=protocol_with(_tls(settings), limits, cut),
        h11_max_incomplete_event_size=2 * limits.head_bytes,  # the protocol refuses earlier, and by the right status
        lifespan="off",
        ws="none",
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies),
        backlog=_WAITING,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=10,
    )
    with _listening(settings.listen) as listener:
        host, port = listener.getsockname()[:2]
        ready(Address(str(host), int(port)))
        uvicorn.Server(config).run(sockets=[listener])


def _tls(settings: ServerSettings) -> ssl.SSLContext | None:
    if settings.certificate is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(settings.certificate, settings.key, password="")  # else it would ask for one
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"{settings.certificate} or its key cannot be used: {type(error).__name__}") from None
    return context


def _listening(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_BYTES)
        listener.bind((address.host, address.port))
        listener.listen(_WAITING)
    except OSError as error:
        listener.close()
        reason = error.strerror or "no such address"
        raise ConfigError(f"cannot listen on {address}: {reason}: choose another by listen under [server]") from None
    return listener
