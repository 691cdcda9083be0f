"""Training speed of whole programs, as Markdown: `make bench-programs DATA=folder`."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from threading import Timer
from typing import Annotated

import typer

from benchmarks.memory import peak_bytes
from benchmarks.multi30k import multi30k_files, prepare_multi30k
from benchmarks.programs import HEEDFUL, NOT_RUN, PROGRAMS, Program
from heedful.data.prepare import PreparedCorpus

_REQUIREMENTS = Path(__file__).parent / "requirements"
_WARM_UP_SECONDS = 10.0
_MOST_SECONDS_TO_INSTALL = 900
_MOST_SECONDS_OF_SETTING_UP = 120


class ProgramError(Exception):
    """A program cannot be installed or does not train; one line says why."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What one run of a program said of its speed once it was warm."""

    pieces_per_second: float
    peak_bytes: int
    """Of its first process; those that only load data are left out."""


def main(
    data: Annotated[Path, typer.Argument(help="Folder of Multi30k.")],
    seconds: Annotated[float, typer.Option(help="Measured in each turn, after warming up.")] = 20,
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each program.")] = 3,
    threads: Annotated[int, typer.Option(min=1, help="For each program.")] = 2,
    cache: Annotated[Path, typer.Option(help="Where corpus and programs are kept.")] = Path(
        "build/bench"
    ),
) -> None:
    """Measure speed and memory of whole programs that train the same model, in turns."""
    cache = cache.resolve()
    pieces = cache / "pieces"
    write_pieces(prepare_multi30k(data, cache), pieces)
    source, target = multi30k_files(data.resolve())
    names = {"source": source, "target": target, "pieces": str(pieces)}
    installed, failures = install_all(PROGRAMS, cache / "programs", names)
    turns = take_turns(installed, failures, seconds=seconds, num_rounds=rounds, threads=threads)
    print(
        f"`tiny`, {threads} threads, float32, batches of 4,096 tokens; "
        f"{rounds} turns of {seconds:g} seconds after {_WARM_UP_SECONDS:g} of warming up.\n"
    )
    print(programs_table(turns, NOT_RUN | failures))


def write_pieces(corpus: PreparedCorpus, folder: Path) -> None:
    """Write the corpus cut into pieces, set apart by spaces, and the vocabulary, one a line."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = corpus.tokenizer
    for split, pairs in (("train", corpus.train), ("valid", corpus.valid)):
        sides = zip(*(pairs[row] for row in range(len(pairs))), strict=True)
        for language, sentences in zip(("en", "de"), sides, strict=True):
            _write_lines(
                folder / f"{split}.{language}",
                (" ".join(tokenizer.pieces(ids)) for ids in sentences),
            )
    reserved = 4  # every program brings its own
    _write_lines(folder / "vocabulary.txt", tokenizer.pieces(range(reserved, tokenizer.vocab_size)))


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


@dataclass(frozen=True, kw_only=True)
class Installed:
    """A program, the Python that runs it, and the folder with its config."""

    program: Program
    python: Path
    folder: Path


def install_all(
    programs: Sequence[Program], folder: Path, names: Mapping[str, str]
) -> tuple[list[Installed], dict[str, str]]:
    """Install and configure every program; of those that fail, return the reasons."""
    installed, failures = [], {}
    for program in programs:
        _say(f"setting up {program.name}")
        home = folder / program.name.replace(" ", "-")
        home.mkdir(parents=True, exist_ok=True)
        (home / program.config_name).write_text(program.config.substitute(names), "utf-8")
        try:
            python = install(program, home / "venv")
        except ProgramError as error:
            failures[program.name] = str(error)
        else:
            installed.append(Installed(program=program, python=python, folder=home))
    return installed, failures


def install(program: Program, venv: Path) -> Path:
    """Make an environment of exactly the pinned packages, unless it is there already."""
    if not program.requirements:
        return Path(sys.executable)
    python, ready = venv / "bin" / "python", venv / ".ready"
    pip = (str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-deps")
    if not ready.exists():
        _complete(sys.executable, "-m", "venv", str(venv))
        _complete(*pip, "-r", str(_REQUIREMENTS / program.requirements))
        ready.touch()
    return python


def _complete(*command: str) -> None:
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=_MOST_SECONDS_TO_INSTALL
        )
    except subprocess.CalledProcessError as error:
        raise ProgramError(reason(error.stderr)) from error
    except subprocess.TimeoutExpired as error:
        raise ProgramError(f"not installed after {_MOST_SECONDS_TO_INSTALL} seconds") from error


def take_turns(
    installed: Sequence[Installed],
    failures: dict[str, str],
    *,
    seconds: float,
    num_rounds: int,
    threads: int,
) -> dict[str, list[Turn]]:
    """Let programs train in turn, who begins changing; one that fails joins the failures."""
    turns: dict[str, list[Turn]] = {each.program.name: [] for each in installed}
    for number in range(num_rounds):
        first = number % len(installed)
        for each in [*installed[first:], *installed[:first]]:
            name = each.program.name
            if name in failures:
                continue
            _say(f"round {number + 1} of {num_rounds}: {name}")
            try:
                turns[name].append(train(each, seconds, threads))
            except ProgramError as error:
                failures[name] = str(error)
    return {name: taken for name, taken in turns.items() if name not in failures}


def train(installed: Installed, seconds: float, threads: int) -> Turn:
    """Train until the program has reported for so many seconds after its warm-up, then end it."""
    process = subprocess.Popen(
        [str(installed.python), *installed.program.arguments],
        cwd=installed.folder,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout, "a pipe was asked for"
    limit = Timer(_MOST_SECONDS_OF_SETTING_UP + _WARM_UP_SECONDS + seconds, _end, [process])
    limit.start()
    try:
        log, rates = read_reports(process.stdout, installed.program.report, seconds)
        if not rates:
            raise ProgramError(reason(log))
        return Turn(pieces_per_second=median(rates), peak_bytes=peak_bytes(process.pid))
    finally:
        limit.cancel()
        _end(process)
        process.wait()
        process.stdout.close()


def read_reports(
    lines: Iterable[str], report: re.Pattern[str], seconds: float
) -> tuple[str, list[float]]:
    """Return the log and the speeds in it, once warm, until `seconds` of those are over."""
    log, rates, warm = [], [], 0.0
    for line in lines:
        log.append(line)
        if not (found := report.search(line)):
            continue
        now = time.monotonic()
        warm = warm or now + _WARM_UP_SECONDS
        if now > warm:
            rates.append(float(found[1].replace(",", "")))
        if now > warm + seconds:
            break
    return "".join(log), rates


def _end(process: subprocess.Popen[str]) -> None:
    """End a program with the processes that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def reason(log: str) -> str:
    """Return the last line that names an error, or else the last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()] or ["it said nothing"]
    return next((line for line in reversed(lines) if re.search("error", line, re.I)), lines[-1])


def programs_table(turns: Mapping[str, Sequence[Turn]], failures: Mapping[str, str]) -> str:
    """Lay out what each program did, our lead over it turn by turn, and who did not run."""
    lines = ["| program | target tokens/s | ours / it (range) | peak memory |", "|---|---|---|---|"]
    for name, taken in turns.items():
        leads = [
            ours.pieces_per_second / its.pieces_per_second
            for ours, its in zip(turns.get(HEEDFUL.name, ()), taken, strict=False)
        ]
        shown = f"{median(leads):.2f} ({min(leads):.2f} to {max(leads):.2f})" if leads else ""
        lines.append(
            f"| {name} | {median(turn.pieces_per_second for turn in taken):,.0f} "
            f"| {shown if name != HEEDFUL.name else ''} "
            f"| {max(turn.peak_bytes for turn in taken) / 1e9:.2f} GB |"
        )
    lines += [f"| {name} | does not run: {why} | | |" for name, why in failures.items()]
    return "\n".join(lines)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    typer.run(main)
