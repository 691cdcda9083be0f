"""What a browser is shown: the page of a model, its modules as files, and how to ask for more."""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heedful.documents.kinds import KINDS
from heedful.errors import HeedfulError
from heedful.explain.page import page_data
from heedful.server.models import Model
from heedful.server.operation import OURS
from heedful.server.service import Service

_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "worker-src 'self'",
        "style-src 'self'",
        "img-src data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types heedful",
    ]
)
_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>heedful</title>
<link rel="stylesheet" href="/static/page.css">
<link rel="icon" href="data:,">
</head>
<body>
{body}
</body>
</html>
"""


@dataclass
class _Pages:
    """The pages of the models, each made when it is first wanted."""

    service: Service
    files: Mapping[str, tuple[str, bytes]]
    made: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    """Of each model the page and the weights."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def page(self, request: Request) -> Response:
        """Show a model."""
        return await self._shown(request, 0, "text/html; charset=utf-8")

    async def weights(self, request: Request) -> Response:
        """Give the weights of a model, to look inside."""
        return await self._shown(request, 1, "application/octet-stream")

    async def _shown(self, request: Request, part: int, kind: str) -> Response:
        models = self.service.models.all
        name = request.path_params.get("name") or next(iter(models))
        if name not in models:
            return OURS.refused(404, "There is no model of that name", {})
        try:
            async with self.lock:
                if name not in self.made:
                    self.made[name] = await asyncio.to_thread(_page_of, models[name], self.service)
        except HeedfulError as error:
            return OURS.refused(404, f"The page cannot be made: {error}", {})
        return _shown(request, self.made[name][part], kind)

    async def static(self, request: Request) -> Response:
        """Give a module or the style of the page."""
        found = self.files.get(request.path_params["name"])
        if found is None:
            return OURS.refused(404, "There is no such file", {})
        kind, content = found
        return _shown(request, content, kind)


def pages(service: Service, description: Mapping[str, Any]) -> list[Route]:
    """Make the routes of all that is for people."""
    shown = _Pages(service, dict(_files()))
    docs = docs_page(description).encode()

    async def how_to(request: Request) -> Response:
        return _shown(request, docs, "text/html; charset=utf-8")

    return [
        Route("/", shown.page),
        Route("/models/{name}", shown.page),
        Route("/models/{name}/weights", shown.weights),
        Route("/static/{name:path}", shown.static),
        Route("/docs", how_to),
    ]


def docs_page(description: Mapping[str, Any]) -> str:
    """Write what can be asked for, with a line for the shell for each."""
    rows = []
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            line = _curl(method.upper(), path, operation)
            rows.append(
                f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2>"
                f"<p>{escape(operation['summary'])}. Interface: {escape(operation['tags'][0])}.</p>"
                f"<pre>{escape(line)}</pre>"
            )
    intro = (
        "<h1>Ask this server</h1><p>It speaks as LibreTranslate and DeepL do, and its own way. "
        'All of it in <a href="/openapi.json">OpenAPI</a>; <a href="/">the page</a>.</p>'
    )
    return _PAGE.format(body=f"<main>{intro}{''.join(rows)}</main>")


def _curl(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """Write how to ask by curl, with an example that can be run as it is."""
    address = f"http://localhost:5000{path}"
    content = operation.get("requestBody", {}).get("content", {})
    chosen = "" if method == "GET" else f" -X {method}"
    if "application/json" in content:
        body = json.dumps(_example(content["application/json"]["schema"]))
        return f"curl {address} -H 'Content-Type: application/json' -d '{body}'"
    if "multipart/form-data" in content:
        example = _example(content["multipart/form-data"]["schema"])
        parts = "".join(f" -F {name}={value}" for name, value in example.items() if name != "file")
        return f"curl {address} -F file=@letter.docx{parts}"
    return f"curl{chosen} {address}"


def _example(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Make up an example of what is required."""
    return {name: _example_of(schema["properties"][name]) for name in schema.get("required", ())}


def _example_of(schema: Mapping[str, Any]) -> Any:
    if "anyOf" in schema:
        return _example_of(schema["anyOf"][0])
    if schema["type"] == "array":
        return [_example_of(schema["items"])]
    if schema["type"] == "string":
        return schema["enum"][-1] if "enum" in schema else "Good morning!"
    return schema.get("minimum", 0)


def _page_of(model: Model, service: Service) -> tuple[bytes, bytes]:
    """Write the page of a model, and its weights; its data is text, which never becomes markup."""
    if model.folder is None:
        raise HeedfulError("the model is not in a folder")
    data, weights = page_data(model.folder)
    first = model.directions[0]
    if len(model.directions) == 1:
        data["languages"] = {"from": first.from_language, "to": first.to_language}
    data["name"] = model.name
    data["served"] = {
        "weights": f"/models/{quote(model.name, safe='')}/weights",
        "models": [
            {
                "name": each.name,
                "directions": [
                    {"from": way.from_language, "to": way.to_language} for way in each.directions
                ],
            }
            for each in service.models.all.values()
        ],
        "needsKey": service.keyring is not None,
        "files": list(KINDS),
    }
    written = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    body = (
        "<noscript>This page translates by JavaScript, which is switched off here.</noscript>\n"
        f'<script type="application/json" id="data">{written}</script>\n'
        '<script type="module" id="program" src="/static/main.js"></script>'
    )
    return _PAGE.replace("{body}", body).encode(), weights


def _files() -> Iterator[tuple[str, tuple[str, bytes]]]:
    """Read all that the page is made of."""
    yield from _within(files("heedful.explain").joinpath("page"), "")


def _within(folder: Traversable, prefix: str) -> Iterator[tuple[str, tuple[str, bytes]]]:
    for item in folder.iterdir():
        kind = _TYPES.get("." + item.name.rpartition(".")[2])
        if item.is_dir():
            yield from _within(item, f"{prefix}{item.name}/")
        elif kind:
            yield prefix + item.name, (kind, item.read_bytes())


def _shown(request: Request, content: bytes, kind: str) -> Response:
    """Show something; a browser that has it already is not sent it again."""
    tag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {
        "ETag": tag,
        "Cache-Control": "no-cache",
        "Content-Security-Policy": _POLICY,
    }
    if request.headers.get("if-none-match") == tag:
        return Response(None, 304, headers)
    return Response(content, 200, headers, kind)
