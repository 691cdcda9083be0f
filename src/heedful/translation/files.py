"""Files of translations: written whole, or gone on with where they stopped."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

from heedful.errors import ConfigError, StoppedError
from heedful.machine.signals import stop_on_signals
from heedful.storage.partial_file import About, PartialFile
from heedful.text.lines import read_lines
from heedful.translation.translator import CHUNK


def translate_file(
    input: Path,
    output: Path,
    translated: Callable[[Iterable[str]], Iterable[str]],
    about: About,
    *,
    read: Callable[[Path], Iterable[str]] = read_lines,
    resume: bool = False,
    stop: threading.Event | None = None,
) -> None:
    """Translate a file into a file; stopped on the way, another run can go on from there.

    It is stopped by signals, and shows how far it is; or by `stop`, and leaves that to the caller.
    """
    _refuse_folder(output)
    num_lines, digest = _counted(read(input))  # and what is no text is refused before the work
    file = PartialFile(output, {"--input": digest, **about})
    try:
        asking = stop_on_signals() if stop is None else nullcontext(stop)
        with asking as asked, file.begun(resume=resume, note_every=CHUNK):
            texts = translated(islice(read(input), file.num_done, None))
            if stop is None:
                texts = _with_time_left(texts, file.num_done, num_lines)
            for text in texts:
                file.write(f"{text}\n")
                if asked.is_set() and file.num_done % CHUNK == 0:
                    file.note()
                    raise StoppedError(
                        f"stopped after {file.num_done:,} of {num_lines:,} lines; "
                        "to go on, add --resume to the same command"
                    )
    except OSError as error:
        raise ConfigError(f"{output}: cannot be written, {error.strerror}") from error


def write_lines(path: Path | None, lines: Iterable[str]) -> None:
    """Print lines, or write them to a file that appears when all of them are there."""
    if path is None:
        sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)  # type: ignore[union-attr]
        for line in lines:
            print(line)
        return
    _refuse_folder(path)
    is_file = becomes_a_file(path)
    partial = path.with_name(path.name + ".partial") if is_file else path
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
        partial.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written, {error.strerror}") from error
    finally:
        if is_file:
            partial.unlink(missing_ok=True)


def _refuse_folder(output: Path) -> None:
    if output.is_dir():
        raise ConfigError(f"{output} is a folder; name a file to write")


def becomes_a_file(path: Path) -> bool:
    """Tell a file, or what is not there yet, from a folder, a pipe or a device."""
    return path.is_file() or not path.exists()


def _counted(lines: Iterable[str]) -> tuple[int, str]:
    """Count lines, and return what stands for all of them."""
    from hashlib import blake2b  # which one sentence does not need

    digest, number = blake2b(digest_size=8), 0
    for line in lines:
        digest.update(f"{line}\n".encode())
        number += 1
    return number, digest.hexdigest()


def _with_time_left(texts: Iterable[str], num_done: int, total: int) -> Iterable[str]:
    """Pass texts on, and show on a terminal how far it is and how long it will take."""
    if not sys.stderr.isatty():
        return texts
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(elapsed_when_finished=True))

    def passed_on() -> Iterator[str]:
        with Progress(*columns, console=Console(stderr=True)) as progress:
            task = progress.add_task("", total=total, completed=num_done)
            for number, text in enumerate(texts, start=num_done + 1):
                yield text
                if number % CHUNK == 0 or number == total:
                    progress.update(task, completed=number)

    return passed_on()
