"""What `heedful translate` does. It knows nothing of the command line, and so it starts at once."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from heedful.cli.formats import FORMATS, needs_details, written
from heedful.errors import ConfigError, printable, refuse_other
from heedful.storage.folder import ModelFolder
from heedful.storage.outputs import becomes_a_file
from heedful.storage.partial_file import About
from heedful.text.glossary import Glossary
from heedful.text.lines import read_any_lines, read_arriving_lines
from heedful.translation.files import translate_file, write_lines
from heedful.translation.options import USUAL, Options
from heedful.translation.translator import Translation, Translator, load

ARCHIVES = (".docx", ".odt", ".pptx", ".odp", ".epub")
DOCUMENTS = (*ARCHIVES, ".md", ".srt", ".vtt", ".html", ".htm", ".xhtml", ".po")
"""What is not read line by line; the room of documents takes longer to load than a sentence."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What to translate, from where to where, and how."""

    model: Path
    texts: Sequence[str] = ()
    input: Path | None = None
    output: Path | None = None
    engine: str | None = None
    fast: bool = False
    replace_invalid: bool = False
    format: str = "text"
    interactive: bool = False
    resume: bool = False
    options: Options = USUAL
    glossary_file: Path | None = None
    """Where the glossary of the options was read from."""

    def __post_init__(self) -> None:
        if bool(self.texts) + bool(self.input) + self.interactive > 1:
            raise ConfigError("of text, --input and --interactive only one can be; choose one")
        if self.resume and not self.files:
            raise ConfigError("--resume needs --input and --output, both of them files")
        refuse_other("format", self.format, FORMATS)
        has_many = self.options.n_best > 1
        if self.document and (self.resume or self.format != "text" or has_many):
            raise ConfigError(
                "a document is written whole: it goes without --resume, --format and --n-best"
            )
        self._refuse_half_a_document()
        if self.interactive and (self.output or self.format != "text" or has_many):
            raise ConfigError("--interactive goes without --output, --format and --n-best")
        if self.format == "tsv" and has_many:
            raise ConfigError(
                "--format tsv has a row for each line; for --n-best take jsonl or text"
            )

    def _refuse_half_a_document(self) -> None:
        """Refuse to read lines from what has none, or to write lines that pass for a document."""
        for path, option in (self.input, "--input"), (self.output, "--output"):
            if path and path.suffix.lower() in ARCHIVES and not self.document:
                raise ConfigError(
                    f"{option} {path}: give a file of its kind by --input and one by --output"
                )

    @property
    def document(self) -> tuple[Path, Path] | None:
        """What is read and written, if it is a document that is more than lines of text."""
        kind = self.input.suffix.lower() if self.input else ""
        if not (self.input and self.output and kind in DOCUMENTS and self.input.is_file()):
            return None
        return (self.input, self.output) if self.output.suffix.lower() == kind else None

    @property
    def files(self) -> tuple[Path, Path] | None:
        """What is read and written, if both are files: such work can be gone on with."""
        if self.input and self.output and self.input.is_file() and becomes_a_file(self.output):
            return self.input, self.output
        return None

    @property
    def read_with(self) -> list[Path]:
        """What is read beside the input, and must not be written over either."""
        return [self.model, *([self.glossary_file] if self.glossary_file else [])]


def translate(task: Task) -> None:
    """Translate texts, a file or else whatever is piped in, line by line and in order."""
    lines = () if task.interactive else _lines(task)
    translator = load(task.model, task.engine, fast=task.fast)
    options = replace(task.options, details=task.interactive or needs_details(task.format))
    flagged: Counter[str] = Counter()

    def translated(lines: Iterable[str | None]) -> Iterator[str]:
        return _written(translator.translate_lines(lines, options), task, flagged)

    if task.document:
        from heedful.cli.document import translate_document

        def translate_texts(texts: Iterable[str]) -> Iterator[Translation]:
            return translator.translate_lines(texts, options)

        translate_document(*task.document, translate_texts, task.read_with)
    elif task.interactive:
        _converse(translator, options)
    elif task.files:
        read = partial(read_any_lines, replace_invalid=task.replace_invalid)
        about = _about(task, translator)
        inputs = task.read_with
        translate_file(
            *task.files, translated, about, read_with=inputs, read=read, resume=task.resume
        )
    else:
        inputs = [*task.read_with, *([task.input] if task.input else [])]
        write_lines(task.output, translated(lines), inputs)
    for note in _notes(task, flagged):
        print(f"heedful: {note}", file=sys.stderr)


def _notes(task: Task, flagged: Counter[str]) -> Iterator[str]:
    """Tell what the output does not show."""
    for name in filter(os.path.isfile, task.texts):
        name = printable(name)
        yield f"'{name}' was translated as a text; for what is in that file: --input {name}"
    if len(task.texts) > 1 and not any(map(_has_space, task.texts)):
        yield (
            f"{len(task.texts)} texts of one word each were translated one by one; if they are one "
            f'text, put it in quotes: "{printable(" ".join(task.texts))}"'
        )
    if task.format != "text":
        return
    if unread := flagged.pop("script", 0):
        lines = "1 text stays as it is" if unread == 1 else f"{unread:,} texts stay as they are"
        yield f"{lines}: the model knows none of the letters (script)"
    if flagged:
        found = ", ".join(f"{flag} {number:,}" for flag, number in flagged.most_common())
        yield f"some lines want a look ({found}); --format tsv says which"


def _has_space(text: str) -> bool:
    return any(map(str.isspace, text))


def _lines(task: Task) -> Iterable[str | None]:
    """Return what is to be translated; None where a pipe is long in coming."""
    if task.texts:
        return task.texts
    if task.input:
        return read_any_lines(task.input, replace_invalid=task.replace_invalid)
    arriving = read_arriving_lines(_standard_input(), replace_invalid=task.replace_invalid)
    sampling = task.options.sampling
    if task.fast or (sampling and sampling.seed is not None):
        # There it shows which lines are translated together, so the pipe must not decide it.
        return (line for line in arriving if line is not None)
    return arriving


def _standard_input() -> BufferedIOBase:
    if sys.stdin.isatty():
        raise ConfigError("no text to translate; give it as an argument, by --input or by a pipe")
    return cast(BufferedIOBase, sys.stdin.buffer)


def _written(
    translations: Iterable[Translation], task: Task, flagged: Counter[str]
) -> Iterator[str]:
    """Write translations in the format that is asked for, and count what is flagged."""
    for translation in translations:
        flagged.update(translation.flags)
        yield "\n".join(written(translation, task.format, task.options.n_best))


def _converse(translator: Translator, options: Options) -> None:
    from rich.console import Console

    from heedful.cli.conversation import converse

    options.search_config(translator.search)  # what cannot be is refused before the first line
    converse(translator, Console(), options)


def _about(task: Task, translator: Translator) -> About:
    """Tell all that shows in the output, as another run can only go on with the same."""
    search = task.options.search_config(translator.search)
    settled = {**asdict(task.options), **asdict(search), "format": task.format, "fast": task.fast}
    return {
        "model": _digest(ModelFolder(task.model).provenance_file.read_bytes()),
        "engine": task.engine if task.engine == "exact" else type(translator.engine).__name__,
        **{_flag(name): _noted(value) for name, value in settled.items()},
    }


def _flag(name: str) -> str:
    return "--beam" if name == "beam_size" else f"--{name.replace('_', '-')}"


def _noted(value: object) -> str | int | float | None:
    if isinstance(value, Glossary):
        return _digest(str(value.terms).encode())
    return value if isinstance(value, int | float) or value is None else str(value)


def _digest(content: bytes) -> str:
    """Return what stands for these bytes."""
    from hashlib import blake2b

    return blake2b(content, digest_size=8).hexdigest()
