"""What `heedful translate` does. It knows nothing of the command line, and so it starts at once."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.translator import CHUNK, Candidate, Translation, load
from heedful.errors import ConfigError, StoppedError
from heedful.folder import ModelFolder
from heedful.partial_file import About, PartialFile
from heedful.stopping import stop_on_signals
from heedful.text.corpus import decode_lines, read_lines


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
    resume: bool = False,
) -> None:
    """Translate texts, a file or else whatever is piped in, line by line and in order."""
    if texts and input:
        raise ConfigError("text and --input are both given; choose one")
    files = input and output and input.is_file() and _becomes_a_file(output) and (input, output)
    if resume and not files:
        raise ConfigError("--resume needs --input and --output, both of them files")
    lines = texts or _input_lines(input)
    translator = load(model, engine)
    kept = translator.search.beam_size if beam is None else SearchConfig(beam_size=beam).beam_size
    if not 1 <= n_best <= kept:
        raise ConfigError(f"--n-best must be from 1 to the beam's {kept}, got {n_best}; see --beam")

    def translated(lines: Iterable[str]) -> Iterator[str]:
        for translation in translator.translate_lines(lines, beam_size=beam, alpha=alpha):
            yield "\n".join(_shown(translation, n_best))

    if files:
        about: About = {
            "model": blake2b(ModelFolder(model).provenance_file.read_bytes()).hexdigest()[:16],
            "engine": type(translator.engine).__name__,
            "--beam": kept,
            "--alpha": translator.search.alpha if alpha is None else alpha,
            "--n-best": n_best,
        }
        translate_file(*files, translated, about, resume=resume)
    else:
        write_lines(output, translated(lines))


def translate_file(
    input: Path,
    output: Path,
    translated: Callable[[Iterable[str]], Iterable[str]],
    about: About,
    *,
    resume: bool = False,
) -> None:
    """Translate a file into a file; stopped on the way, another run can go on from there."""
    digest, num_lines = _read_through(input)
    file = PartialFile(output, {"--input": digest, **about})
    try:
        with stop_on_signals() as stop, file.begun(resume=resume, note_every=CHUNK):
            rest = islice(read_lines(input), file.num_done, None)
            for text in _with_time_left(translated(rest), file.num_done, num_lines):
                file.write(f"{text}\n")
                if stop.is_set() and file.num_done % CHUNK == 0:
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
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        for line in lines:
            print(line)
        return
    is_file = _becomes_a_file(path)
    written = path.with_name(path.name + ".partial") if is_file else path
    try:
        with written.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
        written.replace(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written, {error.strerror}") from error
    finally:
        if is_file:
            written.unlink(missing_ok=True)


def _becomes_a_file(path: Path) -> bool:
    """Tell a file, or what is not there yet, from a folder, a pipe or a device."""
    return path.is_file() or not path.exists()


def _input_lines(path: Path | None) -> Iterator[str]:
    if path is not None:
        return read_lines(path)
    if sys.stdin.isatty():
        raise ConfigError("no text to translate; give it as an argument, by --input or by a pipe")
    return decode_lines(sys.stdin.buffer, "standard input")


def _read_through(path: Path) -> tuple[str, int]:
    """Return what stands for the lines of a file, and their number; refuse what is no text."""
    digest, num_lines = blake2b(digest_size=8), 0
    for line in read_lines(path):
        digest.update(f"{line}\n".encode())
        num_lines += 1
    return digest.hexdigest(), num_lines


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


def _shown(translation: Translation, n_best: int) -> Iterator[str]:
    if n_best == 1:
        yield translation.text
    else:
        candidates: list[Translation | Candidate] = [translation, *translation.alternatives]
        for candidate in candidates[:n_best]:
            yield f"{candidate.score:.4f}\t{candidate.text}"
