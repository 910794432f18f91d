"""The headers that every answer of a server has: nothing is kept, told on, framed or run."""

from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
_NO_POLICY: Final = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; form-action 'none'")
_HSTS: Final = (b"strict-transport-security", b"max-age=31536000")


class SecureHeaders:
    """Puts the headers of all answers on each, and tells the collector of what nobody foresaw."""

    def __init__(self, app: ASGIApp, fault: Callable[[Exception], None], *, has_tls: bool) -> None:
        self._app, self._fault = app, fault
        self._headers = [*_HEADERS, *([_HSTS] if has_tls else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                missing = [] if _NO_POLICY[0] in own else [_NO_POLICY]
                message["headers"] = [*message["headers"], *self._headers, *missing]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:  # noqa: BLE001  # the last frame of a call, whose sender has got one line
            self._fault(error)
        return None
