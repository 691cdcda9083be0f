"""Files of translations: written whole, or gone on with where they stopped."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

from heedful.errors import ConfigError, CorpusError, StoppedError
from heedful.machine.signals import ended_by_sigterm, stop_on_signals
from heedful.storage.outputs import becomes_a_file, open_as_it_is, real_output
from heedful.storage.partial_file import About, PartialFile
from heedful.text.lines import read_lines
from heedful.translation.translator import CHUNK


def translate_file(
    input: Path,
    output: Path,
    translated: Callable[[Iterable[str]], Iterable[str]],
    about: About,
    *,
    read_with: Iterable[Path] = (),
    read: Callable[[Path], Iterable[str]] = read_lines,
    resume: bool = False,
    stop: threading.Event | None = None,
) -> None:
    """Translate a file into a file; stopped on the way, another run can go on from there.

    It is stopped by signals, and shows how far it is; or by `stop`, and leaves that to the caller.
    What else is read, models and glossaries, must not be written over.
    """
    inputs = (input, *read_with)
    output = real_output(output, inputs)
    if not becomes_a_file(output):
        if resume:
            raise ConfigError(f"{output} is no file, so nothing is there to go on with")
        write_lines(output, translated(read(input)), inputs)
        return
    num_lines, digest = _counted(read(input))  # and what is no text is refused before the work
    file = PartialFile(output, {"--input": digest, **about})
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
        if file.num_done != num_lines:
            raise CorpusError(
                f"{input} had {num_lines:,} lines and now has {file.num_done:,}: it was changed "
                "while it was read; begin anew"
            )


def write_lines(path: Path | None, lines: Iterable[str], inputs: Iterable[Path] = ()) -> None:
    """Print lines, or write them to a file that appears when all of them are there.

    The file must be none of those that are read, `inputs`.
    """
    if path is None:
        sys.stdout.reconfigure(encoding="utf-8", line_buffering=True)  # type: ignore[union-attr]
        for line in lines:
            print(line)
        return
    output = real_output(path, inputs)
    if becomes_a_file(output):
        file = PartialFile(output)
        with ended_by_sigterm(), file.begun():
            for line in lines:
                file.write(f"{line}\n")
        return
    try:
        with open_as_it_is(output) as stream:
            stream.writelines(f"{line}\n".encode() for line in lines)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written, {error.strerror}") from error


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
