"""The collector's server as an application: pages out, responses in, and nothing else kept of who calls.

`GET /` and `GET /form` give the same bytes to everybody; `POST /answer` takes what the page sends, `POST /form` what
the form without a script sends, and both the same way into the store. Refusals are short, name no cause that the sender
does not know, and never hold what was sent. Addresses of callers are in memory alone, for as long as their limits need.
"""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from party.errors import StoreError
from party.settings.collector import CollectorSettings
from party.survey.web.description import survey_digest
from party.survey.web.headers import SecureHeaders
from party.survey.web.limits import CallLimits
from party.survey.web.pages import PageFile, form_page, has_form, main_page, reply_page, test_page
from party.survey.web.round_two import round_digest
from party.survey.web.store import AnswerStore, Reception
from party.survey.web.submissions import (
    MALFORMED,
    OTHER_SURVEY,
    UNKNOWN_CODE,
    BitSubmission,
    RefusedError,
    ResponseShape,
    Submission,
    read_bit,
)

_TOO_LONG, _UNAVAILABLE = "too_long", "unavailable"
_STATUS: Final = {
    MALFORMED: 400, UNKNOWN_CODE: 403, OTHER_SURVEY: 409, Reception.CLOSED.value: 410, _TOO_LONG: 413,
    Reception.TOO_OFTEN.value: 429, _UNAVAILABLE: 503,
}  # fmt: skip
_SECONDS_FOR_A_BODY: Final = 20

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, repr=False)
class CollectorSurvey:
    """A survey that is served.

    Args:
        settings: Of it.
        store: Where answers go.
        enough: The number of answers with which it closes; None for any.
        clock: Seconds, for limits.
        now: The time, for the date on which it closes.
        fault: Told of what nobody foresaw.
    """

    settings: CollectorSettings
    store: AnswerStore
    enough: int | None
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    fault: Callable[[Exception], None] = lambda _: None

    @property
    def shape(self) -> ResponseShape:
        """What a response can be."""
        asked = self.settings.questionnaire
        optional = tuple(domain.may_be_missing for domain in asked.domains)
        return ResponseShape(survey_digest(asked), asked.design.sizes, optional)

    def take(self, submission: Submission) -> Reception:
        """Put a response into the store, unless the survey closes first; close it when that is enough."""
        self._close_if_due()
        taken = self.store.submit(submission.code, submission.content, self.settings.server.submissions)
        if taken is Reception.TAKEN and self.enough is not None and self.store.status().answered >= self.enough:
            self.store.close_survey()
        return taken

    def count(self, bit: BitSubmission) -> Reception:
        """Count a bit, unless the survey closes first."""
        self._close_if_due()
        return self.store.count_bit(bit.code, right=bit.right)

    def _close_if_due(self) -> None:
        date = self.settings.closing.date
        if date is not None and self.now() >= date:
            self.store.close_survey()


def make_app(survey: CollectorSurvey) -> ASGIApp:
    """Return the application: of a survey whose model has been published, the page that tests it."""
    settings, shape, published = survey.settings, survey.shape, survey.store.published()
    if published is not None:
        pages = {"/": test_page(settings, published)}
    else:
        pages = {"/": main_page(settings), **({"/form": form_page(settings)} if has_form(settings) else {})}
    limits = CallLimits(settings.server.requests, survey.clock)

    async def answer(request: Request) -> Response:
        body = await _body(request, limits, shape.most_bytes, "application/json")
        return _reply(await run_in_threadpool(survey.take, shape.read_answer(body)))

    async def form(request: Request) -> Response:
        try:
            body = await _body(request, limits, shape.most_bytes, "application/x-www-form-urlencoded")
            taken = await run_in_threadpool(survey.take, shape.read_form(body))
            why = None if taken is Reception.TAKEN else taken.value
        except (RefusedError, StoreError) as error:
            why = error.why if isinstance(error, RefusedError) else _UNAVAILABLE
        page = reply_page(settings, "sent_heading" if why is None else f"error_{why}")
        return _served(page, 200 if why is None else _STATUS[why])

    async def test(request: Request) -> Response:
        body = await _body(request, limits, shape.most_bytes, "application/json")
        return _reply(await run_in_threadpool(survey.count, read_bit(body, digest)))

    routes = [Route(path, _getter(page), methods=["GET"]) for path, page in pages.items()]
    routes.append(Route("/answer", answer, methods=["POST"]))
    routes += [Route("/form", form, methods=["POST"])] if "/form" in pages else []
    if published is not None:
        digest = round_digest(settings.questionnaire, published)
        routes.append(Route("/test", test, methods=["POST"]))
    handlers = {RefusedError: _refusal, StoreError: _store_refusal, HTTPException: _http_refusal, Exception: _fault}
    app = Starlette(routes=routes, exception_handlers=handlers)
    return SecureHeaders(app, survey.fault, has_tls=settings.server.address.startswith("https://"))


async def _body(request: Request, limits: CallLimits, most: int, kind: str) -> bytes:
    """Read a body of one kind and length, of a caller who does not call too often."""
    if not limits.allows("" if request.client is None else request.client.host):
        raise RefusedError(Reception.TOO_OFTEN.value)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != kind:
        raise RefusedError(MALFORMED)
    body = b""
    try:
        with anyio.fail_after(_SECONDS_FOR_A_BODY):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise RefusedError(_TOO_LONG)
    except (TimeoutError, ClientDisconnect):
        raise RefusedError(MALFORMED) from None
    return body


def _getter(page: PageFile) -> Handler:
    async def get(request: Request) -> Response:
        del request
        return _served(page, 200)

    return get


def _served(page: PageFile, status: int) -> Response:
    headers = {"content-security-policy": page.policy}
    return Response(page.body, status, headers, media_type="text/html")


def _reply(taken: Reception) -> Response:
    if taken is not Reception.TAKEN:
        raise RefusedError(taken.value)
    return JSONResponse({"taken": True})


def _refusal(request: Request, error: Exception) -> Response:
    del request
    why = error.why if isinstance(error, RefusedError) else MALFORMED
    return JSONResponse({"error": why}, _STATUS[why])


def _store_refusal(request: Request, error: Exception) -> Response:
    del error
    return _refusal(request, RefusedError(_UNAVAILABLE))


def _http_refusal(request: Request, error: Exception) -> Response:
    del request
    status = error.status_code if isinstance(error, HTTPException) else 400
    return JSONResponse({"error": MALFORMED}, status)


def _fault(request: Request, error: Exception) -> Response:
    del request, error
    return JSONResponse({"error": _UNAVAILABLE}, 500)
