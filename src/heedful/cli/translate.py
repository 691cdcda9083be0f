"""What `heedful translate` does. It knows nothing of the command line, and so it starts at once."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from heedful.cli.formats import FORMATS, needs_details, written
from heedful.decoding.hypothesis import Sampling
from heedful.errors import ConfigError, refuse_other
from heedful.storage.folder import ModelFolder
from heedful.storage.partial_file import About
from heedful.text.glossary import read_glossary
from heedful.text.lines import read_any_lines, read_arriving_lines
from heedful.translation.files import becomes_a_file, translate_file, write_lines
from heedful.translation.translator import Options, Translator, load


def translate(
    model: Path,
    texts: Sequence[str] = (),
    *,
    input: Path | None = None,
    output: Path | None = None,
    beam: int | None = None,
    alpha: float | None = None,
    engine: str | None = None,
    fast: bool = False,
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
    files = input and output and input.is_file() and becomes_a_file(output) and (input, output)
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
        if fast or (sampling and sampling.seed is not None):
            # There it shows which lines are translated together, so the pipe must not decide it.
            lines = (line for line in lines if line is not None)
    terms = None if glossary is None else read_glossary(glossary)
    translator = load(model, engine, fast=fast)
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
            "engine": engine if engine == "exact" else type(translator.engine).__name__,
            "--fast": fast,
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


def _standard_input() -> BufferedIOBase:
    if sys.stdin.isatty():
        raise ConfigError("no text to translate; give it as an argument, by --input or by a pipe")
    return cast(BufferedIOBase, sys.stdin.buffer)


def _converse(translator: Translator, options: Options) -> None:
    from rich.console import Console

    from heedful.cli.conversation import converse

    converse(translator, Console(), **options)


def _digest(content: bytes) -> str:
    """Return what stands for these bytes."""
    from hashlib import blake2b

    return blake2b(content, digest_size=8).hexdigest()
