"""All interfaces put together: who may ask, how long it may take, and how what fails is told."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from heedful.server import deepl, files, libretranslate, own
from heedful.server.openapi import described
from heedful.server.operation import (
    DEEPL,
    LIBRETRANSLATE,
    OURS,
    Asked,
    Interface,
    Operation,
    answer,
    checked_key,
)
from heedful.server.pages import pages
from heedful.server.reading import read
from heedful.server.refusal import RefusedError, too_much
from heedful.server.service import Service

_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_STRICTEST = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_log = logging.getLogger("heedful.server")


def make_app(service: Service, *, allow_origins: Sequence[str] = ()) -> Starlette:
    """Put a service behind all interfaces."""
    operations = [
        *libretranslate.operations(service),
        *files.operations(service),
        *deepl.operations(service),
        *own.operations(service),
    ]

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        async with service.dispatcher:
            yield

    middleware = [Middleware(_Headers)]
    if allow_origins:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(allow_origins),
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["Authorization", "Content-Type"],
                expose_headers=["Retry-After"],
            )
        )
    return Starlette(
        routes=_routes(operations, service),
        middleware=middleware,
        exception_handlers={HTTPException: _not_there, Exception: _broken},
        lifespan=running,
    )


def _routes(operations: Sequence[Operation], service: Service) -> list[Route]:
    """Make a route of each path; one may be asked in several ways."""
    description = described(operations)
    shown = answer(description)

    async def openapi(_: Request) -> Response:
        return shown

    async def metrics(_: Request) -> Response:
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

    by_path: dict[str, dict[str, Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    return [
        *(
            Route(path, _endpoint(service, methods), methods=list(methods))
            for path, methods in by_path.items()
        ),
        Route("/openapi.json", openapi),
        Route("/metrics", metrics),
        *pages(service, description),
    ]


def _endpoint(
    service: Service, methods: dict[str, Operation]
) -> Callable[[Request], Awaitable[Response]]:
    """Make what answers a path."""

    async def endpoint(request: Request) -> Response:
        operation = methods.get(request.method) or methods["GET"]  # HEAD
        metrics, began = service.metrics, time.perf_counter()
        status = 499  # as is said of those who leave
        metrics.at_work.inc()
        try:
            try:
                response = await _answered(request, operation, service)
            except RefusedError as error:
                response = operation.interface.refused(error.status, error.reason, error.headers)
            status = response.status_code
        finally:
            metrics.at_work.dec()
            metrics.requests.labels(operation.path, str(status)).inc()
            metrics.seconds.labels(operation.path).observe(time.perf_counter() - began)
        return response

    return endpoint


async def _answered(request: Request, operation: Operation, service: Service) -> Response:
    """Read a request, see whether it may be asked, and do it while the client is there."""
    limits = service.limits
    if service.at_work >= limits.requests:
        raise too_much("Too many requests: come again later", service.dispatcher.seconds_to_wait)
    service.at_work += 1
    try:
        sent = await read(request, limits.file if operation.takes_file else limits.body)
        asked = Asked(request, sent, service, _client(request), None, operation.interface)
        if key := checked_key(asked, operation):
            asked = Asked(request, sent, service, key.name, key, operation.interface)
        seconds = limits.seconds * (10 if operation.takes_file else 1)
        async with asyncio.timeout(seconds):
            return await _unless_gone(request, operation.run(asked))
    except TimeoutError as error:
        raise too_much("The request took too long: ask for less, or later", 10) from error
    finally:
        service.at_work -= 1


async def _unless_gone(request: Request, work: Awaitable[Response]) -> Response:
    """Do something, and give it up when the client has left."""
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    both: set[asyncio.Future[Any]] = {doing, leaving}
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            doing.cancel()
            raise RefusedError(400, "The client has left")
        return doing.result()
    finally:
        for task in both:
            task.cancel()


async def _left(request: Request) -> None:
    """Wait until the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _client(request: Request) -> str:
    """Tell clients apart by address; one has a whole network of IPv6."""
    if request.client is None:
        return ""
    try:
        address = ip_address(request.client.host)
    except ValueError:
        return request.client.host
    return str(int(address) >> 64) if isinstance(address, IPv6Address) else str(address)


def _interface(path: str) -> Interface:
    return DEEPL if path.startswith("/v2/") else OURS if path.startswith("/v1/") else LIBRETRANSLATE


async def _not_there(request: Request, error: Exception) -> Response:
    """Tell of a path or a method that is not there, as all errors are told."""
    assert isinstance(error, HTTPException)
    interface = _interface(request.url.path)
    return interface.refused(error.status_code, str(error.detail), error.headers or {})


async def _broken(request: Request, error: Exception) -> Response:
    """Tell of a mistake of ours; what it is stands in the log alone."""
    _log.error("a request failed", exc_info=error)
    reason = "Something went wrong here; it is in the log of the server"
    return _interface(request.url.path).refused(500, reason, {})


class _Headers:
    """Says in every answer what a browser must not do with it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                own = [*_HEADERS, _STRICTEST, (b"cache-control", b"no-store")]
                message["headers"] = [
                    *message["headers"],
                    *(header for header in own if header[0] not in given),
                ]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)
