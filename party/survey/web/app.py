"""The collector's two servers as applications: pages and responses for all, results for the collector alone.

`GET /` and `GET /form` give the same bytes to everybody; `POST /answer` takes what the page sends, `POST /form` what
the form without a script sends, and both the same way into the store. Refusals are short, name no cause that the sender
does not know, and never hold what was sent. Addresses of callers are in memory alone, for as long as their limits need.

What happens without a call, `CollectorApp.look` finds: that the survey's date has come, that a closing was cut short,
that a model has been published, so that `GET /` gives the page that tests it and `POST /test` takes its bits.

Results as they come are a page behind a secret address, of a server of its own on the loopback: the one that
respondents reach knows nothing of results. Who else is on this machine does not know the address, which is drawn again
each time; the browser loads the page again by itself, without a script. Each load computes again, one at a time.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hmac import compare_digest
from threading import Lock
from typing import Final

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from party.errors import StoreError
from party.settings.collector import CollectorSettings
from party.survey.web.connections import CallLimits, SecureHeaders
from party.survey.web.description import survey_digest
from party.survey.web.pages import PageFile, closed_page, form_page, has_form, main_page, reply_page, test_page
from party.survey.web.round_two import round_digest
from party.survey.web.store import AnswerStore, Reception, SurveyStage
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
_CLOSED: Final = (SurveyStage.CUT, SurveyStage.CLOSED)
_SECONDS_FOR_A_BODY: Final = 20


@dataclass(frozen=True, repr=False)
class CollectorSurvey:
    """A survey that is served until `enough` answers; `turned` hears of the page that a published model brings."""

    settings: CollectorSettings
    store: AnswerStore
    enough: int | None
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    fault: Callable[[Exception], None] = lambda _: None
    turned: Callable[[PageFile], None] = lambda _: None

    @property
    def shape(self) -> ResponseShape:
        """What a response can be."""
        asked = self.settings.questionnaire
        optional = tuple(domain.may_be_missing for domain in asked.domains)
        return ResponseShape(survey_digest(asked), asked.design.sizes, optional)

    def take(self, submission: Submission) -> Reception:
        """Put a response into the store, unless the survey closes first; close it when that is enough."""
        self._close_if_past()
        taken = self.store.submit(submission.code, submission.content, self.settings.server.submissions)
        if taken is Reception.TAKEN and self._has_enough():
            with suppress(StoreError):  # the response is taken all the same, and `close_if_due` ends the closing
                self.store.close_survey()
        return taken

    def count(self, bit: BitSubmission) -> Reception:
        """Count a bit, unless the survey closes first."""
        self._close_if_past()
        return self.store.count_bit(bit.code, right=bit.right)

    def close_if_due(self) -> None:
        """Close it if its date has come or its answers are enough, and end a closing that was cut short."""
        stage = self.store.stage()
        if stage is SurveyStage.CUT or (stage is SurveyStage.OPEN and self._has_enough()):
            self.store.close_survey()
        elif stage is not SurveyStage.CLOSED:
            self._close_if_past()

    def _has_enough(self) -> bool:
        return self.enough is not None and self.store.status().answered >= self.enough

    def _close_if_past(self) -> None:
        date = self.settings.closing.date
        if date is not None and self.now() >= date:
            self.store.close_survey()


@dataclass(frozen=True)
class _SecondRound:
    """The page that tests a model, and the digest that its bits name."""

    page: PageFile
    digest: str


class CollectorApp:
    """The application of a survey."""

    def __init__(self, survey: CollectorSurvey) -> None:
        settings = survey.settings
        self._survey, self._shape = survey, survey.shape
        self._first = {"/": main_page(settings), **({"/form": form_page(settings)} if has_form(settings) else {})}
        self._second = self._find_second()
        self._closed = closed_page(settings)
        self._is_closed = survey.store.stage() in _CLOSED
        self._fails = False
        self._limits = CallLimits(settings.server.requests, survey.clock)
        app = Starlette(routes=list(self._routes()), exception_handlers=dict.fromkeys(_HANDLED, _refusal))
        self._app = SecureHeaders(app, survey.fault, has_tls=settings.server.address.startswith("https://"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call."""
        await self._app(scope, receive, send)

    @property
    def front(self) -> PageFile:
        """The page to which links lead."""
        if self._is_closed:
            return self._closed
        return self._first["/"] if self._second is None else self._second.page

    def look(self) -> None:
        """Do what is due without a call; what the store refuses now is reported once, and done at a later look."""
        try:
            self._survey.close_if_due()
            self._is_closed = self._survey.store.stage() in _CLOSED
            found = None if self._second is not None else self._find_second()
        except StoreError as error:
            if not self._fails:
                self._survey.fault(error)
            self._fails = True
            return
        self._fails = False
        if found is not None:
            self._second = found
            self._survey.turned(found.page)

    def _find_second(self) -> _SecondRound | None:
        settings, published = self._survey.settings, self._survey.store.published()
        if published is None:
            return None
        return _SecondRound(test_page(settings, published), round_digest(settings.questionnaire, published))

    def _routes(self) -> Iterator[Route]:
        for path in self._first:
            yield Route(path, self._get, methods=["GET"])
        yield Route("/answer", self._answer, methods=["POST"])
        if "/form" in self._first:
            yield Route("/form", self._form, methods=["POST"])
        yield Route("/test", self._test, methods=["POST"])

    async def _get(self, request: Request) -> Response:
        pages = {"/": self.front} if self._is_closed or self._second is not None else self._first
        if request.url.path not in pages:
            raise HTTPException(404)
        return _served(pages[request.url.path], 200)

    async def _answer(self, request: Request) -> Response:
        body = await self._body(request, "application/json")
        return _reply(await run_in_threadpool(self._survey.take, self._shape.read_answer(body)))

    async def _form(self, request: Request) -> Response:
        try:
            body = await self._body(request, "application/x-www-form-urlencoded")
            taken = await run_in_threadpool(self._survey.take, self._shape.read_form(body))
            why = None if taken is Reception.TAKEN else taken.value
        except (RefusedError, StoreError) as error:
            why = error.why if isinstance(error, RefusedError) else _UNAVAILABLE
        page = reply_page(self._survey.settings, "sent_heading" if why is None else f"error_{why}")
        return _served(page, 200 if why is None else _STATUS[why])

    async def _test(self, request: Request) -> Response:
        if self._second is None:
            raise HTTPException(404)
        body = await self._body(request, "application/json")
        return _reply(await run_in_threadpool(self._survey.count, read_bit(body, self._second.digest)))

    async def _body(self, request: Request, kind: str) -> bytes:
        """Read a body of one kind, of the usual length, of a caller who does not call too often."""
        if not self._limits.allows("" if request.client is None else request.client.host):
            raise RefusedError(Reception.TOO_OFTEN.value)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != kind:
            raise RefusedError(MALFORMED)
        body = b""
        try:
            with anyio.fail_after(_SECONDS_FOR_A_BODY):
                async for part in request.stream():
                    body += part
                    if len(body) > self._shape.most_bytes:
                        raise RefusedError(_TOO_LONG)
        except (TimeoutError, ClientDisconnect):
            raise RefusedError(MALFORMED) from None
        return body


def _served(page: PageFile, status: int) -> Response:
    headers = {"content-security-policy": page.policy}
    return Response(page.body, status, headers, media_type="text/html")


def _reply(taken: Reception) -> Response:
    if taken is not Reception.TAKEN:
        raise RefusedError(taken.value)
    return JSONResponse({"taken": True})


_HANDLED: Final = (RefusedError, StoreError, HTTPException, Exception)


def _refusal(request: Request, error: Exception) -> Response:
    del request
    match error:
        case RefusedError():
            return JSONResponse({"error": error.why}, _STATUS[error.why])
        case StoreError():
            return JSONResponse({"error": _UNAVAILABLE}, _STATUS[_UNAVAILABLE])
        case HTTPException():
            return JSONResponse({"error": MALFORMED}, error.status_code)
    return JSONResponse({"error": _UNAVAILABLE}, 500)


_NOT_USED = ("base-uri", "frame-ancestors", "form-action")


def make_live_app(token: str, page: Callable[[], str], style: str, fault: Callable[[Exception], None]) -> ASGIApp:
    """Return the application."""
    turn = Lock()
    policy = "; ".join(["default-src 'none'", f"style-src {style}", *(f"{name} 'none'" for name in _NOT_USED)])

    def current() -> str:
        with turn:
            return page()

    async def results(request: Request) -> Response:
        if not compare_digest(request.path_params["token"].encode(), token.encode()):
            return Response(status_code=404)
        made = await run_in_threadpool(current)
        return Response(made, headers={"content-security-policy": policy}, media_type="text/html")

    app = Starlette(routes=[Route("/{token}", results, methods=["GET"])])
    return SecureHeaders(app, fault, has_tls=False)
