"""What `heedful translate` does. It knows nothing of the command line, and so it starts at once."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.translator import Candidate, Translation, load
from heedful.errors import ConfigError


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
) -> None:
    """Translate texts, a file or else whatever is piped in, line by line and in order."""
    if texts and input:
        raise ConfigError("text and --input are both given; choose one")
    lines = texts or _input_lines(input)
    translator = load(model, engine)
    kept = translator.search.beam_size if beam is None else SearchConfig(beam_size=beam).beam_size
    if not 1 <= n_best <= kept:
        raise ConfigError(f"--n-best must be from 1 to the beam's {kept}, got {n_best}; see --beam")
    translations = translator.translate_lines(lines, beam_size=beam, alpha=alpha)
    write_lines(output, (line for item in translations for line in _shown(item, n_best)))


def write_lines(path: Path | None, lines: Iterable[str]) -> None:
    """Print lines, or write them to a file that appears when all of them are there."""
    if path is None:
        sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        for line in lines:
            print(line)
        return
    is_file = path.is_file() or not path.exists()  # not a folder, a pipe or a device
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


def _input_lines(path: Path | None) -> Iterator[str]:
    from heedful.text.corpus import decode_lines, read_lines

    if path is not None:
        return read_lines(path)
    if sys.stdin.isatty():
        raise ConfigError("no text to translate; give it as an argument, by --input or by a pipe")
    return decode_lines(sys.stdin.buffer, "standard input")


def _shown(translation: Translation, n_best: int) -> Iterator[str]:
    if n_best == 1:
        yield translation.text
    else:
        candidates: list[Translation | Candidate] = [translation, *translation.alternatives]
        for candidate in candidates[:n_best]:
            yield f"{candidate.score:.4f}\t{candidate.text}"
