"""Results as they come, for the collector alone: a page on this machine behind a secret address.

It is a server of its own, on the loopback: the one that respondents reach knows nothing of results. Who else is on this
machine does not know the address, which is drawn anew each time; the browser is told to load the page again, without a
script. Each load computes anew, one at a time.
"""

from collections.abc import Callable
from hmac import compare_digest
from threading import Lock

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from party.survey.web.headers import SecureHeaders
from party.survey.web.pages import PageFile


def make_live_app(token: str, page: Callable[[], PageFile], fault: Callable[[Exception], None]) -> ASGIApp:
    """Return the application.

    Args:
        token: The path behind which the page stands; anything else is not there.
        page: Makes it.
        fault: Told of what nobody foresaw.
    """
    turn = Lock()

    def current() -> PageFile:
        with turn:
            return page()

    async def results(request: Request) -> Response:
        if not compare_digest(request.path_params["token"].encode(), token.encode()):
            return Response(status_code=404)
        made = await run_in_threadpool(current)
        return Response(made.body, headers={"content-security-policy": made.policy}, media_type="text/html")

    app = Starlette(routes=[Route("/{token}", results, methods=["GET"])])
    return SecureHeaders(app, fault, has_tls=False)
