"""Files that are translated: taken in, worked on beside everything else, fetched when done.

They are held in memory, so a full disk can spoil none, and forgotten after some minutes.
"""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from heedful.documents.document import Document
from heedful.documents.kinds import KINDS, read_document
from heedful.errors import HeedfulError
from heedful.server.operation import LIBRETRANSLATE, OURS, Asked, Operation, answer
from heedful.server.order import AUTO, Order, carry_out, unsupported
from heedful.server.refusal import RefusedError
from heedful.server.schema import Schema, object_schema, text_schema
from heedful.server.service import Service

KEPT_SECONDS = 900
_MOST_KEPT = 100_000_000  # bytes
_AT_ONCE = 64  # texts of a file that wait at once; what is left waits in the file
_LONGER = 10  # times as long as other requests
_TYPES = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".epub": "application/epub+zip",
}


@dataclass
class Job:
    """A file on its way."""

    name: str
    id: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    total: int = 0
    done: int = 0
    unchanged: int = 0
    flags: dict[str, int] = field(default_factory=dict)
    content: bytes = b""
    error: str = ""
    status: int = 200
    is_over: bool = False
    task: "asyncio.Task[None] | None" = None

    def report(self, address: str) -> dict[str, Any]:
        """Tell how far it is, and what was and was not translated."""
        state = "working" if not self.is_over else "failed" if self.error else "done"
        report: dict[str, Any] = {
            "id": self.id,
            "name": self.name,
            "state": state,
            "texts": self.total,
            "translated": self.done,
            "unchanged": self.unchanged,
            "flags": self.flags,
        }
        if state == "failed":
            report["error"] = self.error
        if state == "done":
            report["url"] = f"{address}/download_file/{self.path}"
        return report

    @property
    def path(self) -> str:
        """What stands for it in an address."""
        return f"{self.id}.{quote(self.name, safe='')}"


@dataclass
class Files:
    """The files that a server has."""

    clock: Callable[[], float] = time.monotonic
    _jobs: OrderedDict[str, tuple[float, Job]] = field(default_factory=OrderedDict)

    def add(self, job: Job) -> None:
        """Keep a file from now on, and forget the oldest of too many."""
        now = self.clock()
        self._jobs[job.id] = now, job
        while self._jobs:
            began, oldest = next(iter(self._jobs.values()))
            size = sum(len(kept.content) for _, kept in self._jobs.values())
            is_old = began + KEPT_SECONDS < now
            if not is_old and (size <= _MOST_KEPT or not oldest.is_over):
                break
            self.remove(oldest.id)

    def get(self, id: str) -> Job:
        """Find a file."""
        if id not in self._jobs:
            raise RefusedError(404, "There is no such file; it may have been forgotten by now")
        return self._jobs[id][1]

    def remove(self, id: str) -> None:
        """Forget a file; one that is worked on is given up."""
        _, job = self._jobs.pop(id)
        if job.task:
            job.task.cancel()

    @property
    def num_working(self) -> int:
        """How many are not done."""
        return sum(not job.is_over for _, job in self._jobs.values())


@dataclass
class Translating:
    """The operations on files."""

    files: Files = field(default_factory=Files)
    most_at_work: int = 20

    async def translate_file(self, asked: Asked) -> Response:
        """Translate a file while the client waits, as LibreTranslate does."""
        job = await self._begun(asked)
        assert job.task is not None
        try:
            await job.task
        except asyncio.CancelledError:
            self.files.remove(job.id)
            raise
        if job.error:
            raise RefusedError(job.status, job.error)
        return answer({"translatedFileUrl": job.report(_address(asked))["url"]})

    async def begin(self, asked: Asked) -> Response:
        """Begin to translate a file, and tell where to ask how far it is."""
        job = await self._begun(asked)
        return answer(job.report(_address(asked)), 202)

    async def look(self, asked: Asked) -> Response:
        """Tell how far a file is."""
        job = self.files.get(asked.request.path_params["id"])
        return answer(job.report(_address(asked)))

    async def give_up(self, asked: Asked) -> Response:
        """Forget a file."""
        job = self.files.get(asked.request.path_params["id"])
        self.files.remove(job.id)
        return answer({"id": job.id, "state": "forgotten"})

    async def download(self, asked: Asked) -> Response:
        """Give a file that is done."""
        id = asked.request.path_params["name"].partition(".")[0]
        job = self.files.get(id)
        if not job.is_over or job.error:
            raise RefusedError(404, "The file is not done")
        kind = _TYPES.get(PurePosixPath(job.name.lower()).suffix, "application/octet-stream")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(job.name, safe='')}"
        }
        return Response(job.content, 200, headers, kind)

    async def _begun(self, asked: Asked) -> Job:
        """Read the request and the file, and set to work."""
        name, content = _file(asked)
        order = _order(asked)
        if self.files.num_working >= self.most_at_work:
            raise RefusedError(
                429, "Too many files at once: come again later", {"Retry-After": "10"}
            )
        document = await _read(content, name)
        size = sum(map(len, document.texts))
        most = asked.service.limits.file_characters
        if size > most:
            raise RefusedError(
                400, f"Invalid request: request ({size}) exceeds text limit ({most})"
            )
        order = _with_language(asked.service, order, document)
        await carry_out(asked.service, order, asked.client)  # of nothing; so what cannot be is told
        asked.count(size)
        job = Job(_translated_name(name, order.target), total=len(document.texts))
        job.task = asyncio.create_task(_work(job, document, order, asked))
        self.files.add(job)
        return job


async def _work(job: Job, document: Document, order: Order, asked: Asked) -> None:
    """Translate the texts of a file some at a time, so that others have their turns."""
    texts, found = document.texts, list[str]()
    try:
        async with asyncio.timeout(asked.service.limits.seconds * _LONGER):
            for start in range(0, len(texts), _AT_ONCE):
                part = Order(**{**vars(order), "texts": texts[start : start + _AT_ONCE]})
                for done in await carry_out(asked.service, part, asked.client, is_patient=True):
                    found.append(done.translation.text)
                    job.unchanged += done.translation.text == done.translation.source
                    for flag in done.translation.flags:
                        job.flags[flag] = job.flags.get(flag, 0) + 1
                job.done = len(found)
            job.content = await asyncio.to_thread(document.written, found)
    except RefusedError as error:
        job.error, job.status = error.reason, error.status
    except TimeoutError:
        job.error, job.status = "The file takes too long; cut it in parts", 429
    except Exception:
        job.error, job.status = "Something went wrong here; it is in the log of the server", 500
        raise
    finally:
        job.is_over = True


async def _read(content: bytes, name: str) -> Document:
    try:
        return await asyncio.to_thread(read_document, content, name)
    except HeedfulError as error:
        raise RefusedError(400, f"Invalid request: {error}") from error


def _file(asked: Asked) -> tuple[str, bytes]:
    if "file" not in asked.sent.files:
        raise RefusedError(400, "Invalid request: missing file parameter")
    given, content = asked.sent.files["file"]
    name = PurePosixPath(PureWindowsPath(given).name).name
    name = "".join(it for it in name if it.isprintable() and it not in '<>:"/\\|?*')[-100:]
    if not name.strip(" ."):
        raise RefusedError(400, "Invalid request: the file has no name")
    return name, content


def _order(asked: Asked) -> Order:
    """Read from what to what a file is to be translated; there is no text yet."""
    values, models = asked.sent.values, asked.service.models
    source, target = (_needed(values, name) for name in ("source", "target"))
    found = models.target(target) or models.source(target)
    if found is None:
        raise unsupported(target)
    return Order(texts=("",), source=AUTO if source.lower() == AUTO else source, target=found)


def _needed(values: dict[str, Any], name: str) -> str:
    if not (value := values.get(name)):
        raise RefusedError(400, f"Invalid request: missing {name} parameter")
    return str(value)


def _with_language(service: Service, order: Order, document: Document) -> Order:
    """Detect the language of a file once, by all of it."""
    if order.source != AUTO:
        return order
    guesses = service.guess(document.texts[:200])
    source = guesses[0][0] if guesses else service.models.sources[0]
    return Order(**{**vars(order), "source": source})


def _translated_name(name: str, target: str) -> str:
    stem, dot, ending = name.rpartition(".")
    return f"{stem}.{target}{dot}{ending}"


def _address(asked: Asked) -> str:
    return str(asked.request.base_url).rstrip("/")


def operations(service: Service) -> list[Operation]:
    """List what can be done with files."""
    translating = Translating()
    models = service.models
    form = object_schema(
        {
            "file": {"type": "string", "format": "binary"},
            "source": text_schema(enum=[AUTO, *models.sources]),
            "target": text_schema(enum=models.targets),
            "api_key": text_schema(),
        },
        *("file", "source", "target"),
    )
    report = object_schema({"id": text_schema(), "state": text_schema()}, "id", "state")
    url = object_schema({"translatedFileUrl": text_schema()}, "translatedFileUrl")
    id: Schema = {"name": "id", "in": "path", "required": True, "schema": text_schema()}
    takes = {"multipart/form-data": form}
    common: dict[str, Any] = {"interface": OURS, "errors": (401, 403, 404, 429)}
    return [
        Operation(
            interface=LIBRETRANSLATE,
            method="POST",
            path="/translate_file",
            summary=f"Translate a file: {', '.join(KINDS)}",
            run=translating.translate_file,
            takes=takes,
            gives=url,
            errors=(429,),
            takes_file=True,
        ),
        Operation(
            interface=LIBRETRANSLATE,
            method="GET",
            path="/download_file/{name}",
            summary="Fetch a translated file",
            run=translating.download,
            parameters=({**id, "name": "name"},),
            gives={"type": "string", "format": "binary"},
            gives_type="application/octet-stream",
            errors=(404,),
            needs_key=False,
        ),
        Operation(
            method="POST",
            path="/v1/files",
            summary="Begin to translate a file",
            run=translating.begin,
            takes=takes,
            gives=report,
            takes_file=True,
            **common,
        ),
        Operation(
            method="GET",
            path="/v1/files/{id}",
            summary="Tell how far a file is, and what was not translated",
            run=translating.look,
            parameters=(id,),
            gives=report,
            needs_key=False,
            **common,
        ),
        Operation(
            method="DELETE",
            path="/v1/files/{id}",
            summary="Forget a file",
            run=translating.give_up,
            parameters=(id,),
            gives=report,
            needs_key=False,
            **common,
        ),
    ]
