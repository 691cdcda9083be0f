"""A server under load, as Markdown: `make bench-serve DATA=folder MODEL=folder`."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Annotated
from urllib.parse import urlsplit

import typer

import heedful
from heedful.text.lines import read_lines

CLIENTS = (1, 8, 64)
LOOP = "a loop over the Python API"
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Load:
    """What came of asking for some time."""

    wall: float = 0.0
    cpu: float = 0.0
    """Of the server."""
    seconds: list[float] = field(default_factory=list)
    """How long each request took."""
    refused: int = 0
    """With 429."""
    errors: int = 0

    def add(self, other: "Load") -> None:
        """Count what came of another turn as well."""
        self.wall += other.wall
        self.cpu += other.cpu
        self.seconds += other.seconds
        self.refused += other.refused
        self.errors += other.errors

    @property
    def per_second(self) -> float:
        """Requests answered in a second."""
        return len(self.seconds) / self.wall


def main(
    data: Annotated[Path, typer.Argument(help="Folder of Multi30k.")],
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    seconds: Annotated[float, typer.Option(help="Of each turn.")] = 10,
    rounds: Annotated[int, typer.Option(help="Turns of each.")] = 3,
    requests: Annotated[int, typer.Option(help="To see whether memory grows.")] = 0,
) -> None:
    """Ask a server as 1, 8 and 64 clients do, beside a loop that asks nobody."""
    texts = list(read_lines(data / "test_2016_flickr.lc.norm.tok.en.gz"))
    with serving(model, cache=0) as server:
        found = take_turns(server, model, texts, seconds, rounds)
        print(load_table(found), flush=True)
        print(f"\nSentences in a batch, on the mean: {server.batch_size():.1f}")
        if requests:
            print(f"\nMemory {memory_growth(server, texts, requests)}")
    with serving(model, cache=10) as server:
        cached = asyncio.run(ask(server, texts[:1], clients=8, seconds=seconds))
    cost, whole = cached.cpu / len(cached.seconds), found[f"{CLIENTS[-1]} clients"]
    share = cost / (whole.cpu / len(whole.seconds))
    print(f"\nHTTP and the queue take {cost * 1e3:.2f} ms of a request, {share:.0%} of its work.")


class Server:
    """A server in a process of its own."""

    def __init__(self, address: str, process: int) -> None:
        parts = urlsplit(address)
        self.host, self.port, self.process = str(parts.hostname), int(parts.port or 80), process

    @property
    def cpu(self) -> float:
        """Seconds of work so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def memory(self) -> int:
        """Bytes that it holds."""
        return int(Path(f"/proc/{self.process}/statm").read_text().split()[1]) * _PAGE

    def batch_size(self) -> float:
        """Return the mean of sentences that were translated at once."""
        text = asyncio.run(self._metrics())
        total, number = (
            float(re.search(rf"^heedful_batch_sentences_{name} (\S+)", text, re.MULTILINE)[1])  # type: ignore[index]
            for name in ("sum", "count")
        )
        return total / number

    async def _metrics(self) -> str:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        text = (await reader.read()).decode()
        writer.close()
        return text


@contextmanager
def serving(model: Path, *, cache: int) -> Iterator[Server]:
    """Serve a model for the length of a block."""
    command = [sys.executable, "-m", "heedful", "serve", str(model), "--port", "0"]
    languages = heedful.load(model).languages
    if not languages[0].from_language:
        command += ["--from", "en", "--to", "de"]
    with subprocess.Popen(
        [*command, "--cache", str(cache)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            address = next(it.split()[2] for it in process.stdout if it.startswith("Listening"))
            yield Server(address.rstrip(","), process.pid)
        finally:
            process.terminate()


def take_turns(
    server: Server, model: Path, texts: Sequence[str], seconds: float, rounds: int
) -> dict[str, Load]:
    """Let so many clients ask, and a loop translate, in turn; the first round is not measured."""
    translator = heedful.load(model)
    found = {LOOP: Load()} | {_name(clients): Load() for clients in CLIENTS}
    for number in range(rounds + 1):
        print(f"round {number} of {rounds}", file=sys.stderr)
        turns = {LOOP: loop(translator, texts, seconds)} | {
            _name(clients): asyncio.run(ask(server, texts, clients=clients, seconds=seconds))
            for clients in CLIENTS
        }
        if number:
            for name, load in turns.items():
                found[name].add(load)
    return found


def _name(clients: int) -> str:
    return "1 client" if clients == 1 else f"{clients} clients"


def loop(translator: heedful.Translator, texts: Sequence[str], seconds: float) -> Load:
    """Translate one sentence after another, and ask nobody."""
    load, began = Load(), time.perf_counter()
    for number in count():
        start = time.perf_counter()
        if start - began > seconds:
            break
        translator.translate(texts[number % len(texts)])
        load.seconds.append(time.perf_counter() - start)
    load.wall = time.perf_counter() - began
    return load


async def ask(
    server: Server, texts: Sequence[str], *, clients: int, seconds: float, most: int = 1 << 60
) -> Load:
    """Ask for one sentence after another as so many clients at once."""
    load, cpu, began = Load(), server.cpu, time.perf_counter()
    numbers = iter(islice(count(), most))

    async def client() -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        try:
            for number in numbers:
                start = time.perf_counter()
                if start - began > seconds:
                    break
                status = await _post(reader, writer, texts[number % len(texts)])
                if status == 200:
                    load.seconds.append(time.perf_counter() - start)
                load.refused += status == 429
                load.errors += status not in (200, 429)
        finally:
            writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    load.wall, load.cpu = time.perf_counter() - began, server.cpu - cpu
    return load


async def _post(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, text: str) -> int:
    """Ask for one translation on a connection that stays, and return the status."""
    body = json.dumps({"q": text, "source": "auto", "target": "de"}).encode()
    head = "POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    size = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
    await reader.readexactly(int(size[1]) if size else 0)
    return int(answer.split(b" ", 2)[1])


def load_table(found: dict[str, Load]) -> str:
    """Lay out speed and waiting."""
    one = found[_name(1)].per_second
    lines = [
        "| who asks | sentences/s | to one client | p50 | p95 | 429 | errors |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, load in found.items():
        p95 = quantiles(load.seconds, n=20)[-1]
        lines.append(
            f"| {name} | {load.per_second:,.0f} | {load.per_second / one:.2f} "
            f"| {median(load.seconds) * 1e3:.1f} ms | {p95 * 1e3:.1f} ms "
            f"| {load.refused} | {load.errors} |"
        )
    return "\n".join(lines)


def memory_growth(server: Server, texts: Sequence[str], requests: int) -> str:
    """Tell how much memory many requests leave behind, from the first tenth on."""
    sizes = []
    for _ in range(10):
        asyncio.run(ask(server, texts, clients=CLIENTS[-1], seconds=3_600, most=requests // 10))
        sizes.append(server.memory / 1e6)
    growth = mean(sizes[-2:]) / mean(sizes[1:3]) - 1
    return (
        f"over {requests:,} requests: {sizes[0]:,.0f} MB after a tenth, {sizes[-1]:,.0f} MB after "
        f"all, {growth:+.1%} between the second fifth and the last"
    )


if __name__ == "__main__":
    typer.run(main)
