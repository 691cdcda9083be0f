"""What `heedful translate` does with a document: a file in, the same kind of file out."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from heedful.documents.kinds import read_document
from heedful.errors import ConfigError, CorpusError
from heedful.machine.signals import ended_by_sigterm
from heedful.storage.outputs import becomes_a_file, open_as_it_is, real_output
from heedful.storage.partial_file import PartialFile
from heedful.translation.translator import Translation

MOST_BYTES = 1 << 30


def translate_document(
    input: Path,
    output: Path,
    translate: Callable[[Iterable[str]], Iterable[Translation]],
    read_with: Sequence[Path],
) -> None:
    """Translate a document into another, which appears when all of it is there."""
    output = real_output(output, [input, *read_with])
    document = read_document(_read(input), input.name)
    translations = []
    with ended_by_sigterm():
        for translation in translate(document.texts):
            translations.append(str(translation))
        written = document.written(translations)
        if becomes_a_file(output):
            with PartialFile(output).begun() as file:
                file.write(written)
        else:
            with open_as_it_is(output) as stream:
                stream.write(written)
    left = sum(map(str.__eq__, translations, document.texts))
    same = f", of which {left:,} came back as they were" if left else ""
    print(f"heedful: {output}: {len(translations):,} texts{same}", file=sys.stderr)


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise CorpusError(f"{path}: larger than {MOST_BYTES >> 30} GB; cut it in parts")
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read, {error.strerror}") from error
