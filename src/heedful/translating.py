"""What `heedful translate` does. It knows nothing of the command line, and so it starts at once."""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from io import BufferedIOBase
from itertools import islice
from pathlib import Path
from typing import cast

from heedful.decoding.hypothesis import Sampling
from heedful.decoding.translator import CHUNK, Options, Translator, load
from heedful.errors import ConfigError, StoppedError, refuse_other
from heedful.formats import FORMATS, needs_details, written
from heedful.machine.signals import stop_on_signals
from heedful.storage.folder import ModelFolder
from heedful.storage.partial_file import About, PartialFile
from heedful.text.glossary import read_glossary
from heedful.text.lines import read_any_lines, read_arriving_lines, read_lines

_VARIANTS = ("exact", "shortlist")  # of the same engine, and they may write other words


def translate(
    model: Path,
    texts: Sequence[str] = (),
    *,
    input: Path | None = None,
    output: Path | None = None,
    beam: int | None = None,
    alpha: float | None = None,
    engine: str | None = None,
    n_best: int = 1,
    glossary: Path | None = None,
    replace_invalid: bool = False,
    format: str = "text",
    interactive: bool = False,
    prefix: str = "",
    sampling: Sampling | None = None,
    resume: bool = False,
) -> None:
    """Translate texts, a file or else whatever is piped in, line by line and in order."""
    if bool(texts) + bool(input) + interactive > 1:
        raise ConfigError("of text, --input and --interactive only one can be; choose one")
    if output and output.is_symlink() and output.is_file():
        output = output.resolve()  # the file is written anew, not the link
    files = input and output and input.is_file() and _becomes_a_file(output) and (input, output)
    if resume and not files:
        raise ConfigError("--resume needs --input and --output, both of them files")
    refuse_other("format", format, FORMATS)
    if interactive and (output or format != "text" or n_best > 1):
        raise ConfigError("--interactive goes without --output, --format and --n-best")
    if format == "tsv" and n_best > 1:
        raise ConfigError("--format tsv has a row for each line; for --n-best take jsonl or text")
    read = partial(read_any_lines, replace_invalid=replace_invalid)
    lines: Iterable[str | None] = texts
    if input:
        lines = read(input)
    elif not texts and not interactive:
        lines = read_arriving_lines(_standard_input(), replace_invalid=replace_invalid)
        if engine == "shortlist" or (sampling and sampling.seed is not None):
            # There it shows which lines are translated together, so the pipe must not decide it.
            lines = (line for line in lines if line is not None)
    terms = None if glossary is None else read_glossary(glossary)
    translator = load(model, engine)
    search = translator.search_config(beam, alpha, n_best, sampling)
    options: Options = {
        "beam_size": beam,
        "alpha": alpha,
        "n_best": n_best,
        "glossary": terms,
        "prefix": prefix,
        "sampling": sampling,
        "details": interactive or needs_details(format),
    }

    flagged: Counter[str] = Counter()

    def translated(lines: Iterable[str | None]) -> Iterator[str]:
        for translation in translator.translate_lines(lines, **options):
            flagged.update(translation.flags)
            yield "\n".join(written(translation, format, n_best))

    if interactive:
        _converse(translator, options)
    elif files:
        about: About = {
            "model": _digest(ModelFolder(model).provenance_file.read_bytes()),
            "engine": engine if engine in _VARIANTS else type(translator.engine).__name__,
            "--beam": search.beam_size,
            "--alpha": search.alpha,
            "--n-best": n_best,
            "--glossary": _digest(str(terms.terms).encode()) if terms else None,
            "--format": format,
            "--prefix": prefix,
            "sampling": str(sampling),
        }
        translate_file(*files, translated, about, read=read, resume=resume)
    else:
        write_lines(output, translated(lines))
    if flagged and format == "text":
        found = ", ".join(f"{flag} {number:,}" for flag, number in flagged.most_common())
        print(f"some lines want a look ({found}); --format tsv says which", file=sys.stderr)


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
    is_file = _becomes_a_file(path)
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


def _becomes_a_file(path: Path) -> bool:
    """Tell a file, or what is not there yet, from a folder, a pipe or a device."""
    return path.is_file() or not path.exists()


def _standard_input() -> BufferedIOBase:
    if sys.stdin.isatty():
        raise ConfigError("no text to translate; give it as an argument, by --input or by a pipe")
    return cast(BufferedIOBase, sys.stdin.buffer)


def _converse(translator: Translator, options: Options) -> None:
    from rich.console import Console

    from heedful.conversation import converse

    converse(translator, Console(), **options)


def _counted(lines: Iterable[str]) -> tuple[int, str]:
    """Count lines, and return what stands for all of them."""
    from hashlib import blake2b  # which one sentence does not need

    digest, number = blake2b(digest_size=8), 0
    for line in lines:
        digest.update(f"{line}\n".encode())
        number += 1
    return number, digest.hexdigest()


def _digest(content: bytes) -> str:
    """Return what stands for these bytes."""
    from hashlib import blake2b

    return blake2b(content, digest_size=8).hexdigest()


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
