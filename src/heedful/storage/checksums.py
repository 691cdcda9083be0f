"""Which files of a model folder belong together: one that was mixed from two models is refused."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from heedful.errors import ModelFolderError
from heedful.storage.documents import read_whole_record
from heedful.storage.folder import ModelFolder
from heedful.storage.outputs import MARK
from heedful.storage.writing import write_atomically


@dataclass(frozen=True, kw_only=True)
class Checksums:
    """Of every file that translating reads, by its path within the folder."""

    files: dict[str, str]


def write_checksums(folder: ModelFolder) -> None:
    """Note which files were made together."""
    files = {_name(folder, path): _digest(path) for path in _files(folder)}
    document = asdict(Checksums(files=files))
    write_atomically(folder.checksums_file, json.dumps(document, indent=2) + "\n")


def refuse_mixed(folder: ModelFolder, *, engine: str) -> None:
    """Refuse a folder whose files were not made together, as far as an engine reads them."""
    if not folder.checksums_file.exists():
        return
    known = read_whole_record(Checksums, folder.checksums_file).files
    others = {"ctranslate2": [folder.weights_file], "pytorch": _exported(folder)}[engine]
    for path in _files(folder):
        name = _name(folder, path)
        if path not in others and name in known and known[name] != _digest(path):
            is_exported = path.parent == folder.ctranslate2
            remedy = f"make it again with: heedful export {folder.path}" if is_exported else ""
            raise ModelFolderError(
                f"{path} is not the file that was made with the others of {folder.path}: it is "
                f"damaged or of another model; {remedy or 'copy the folder again'}"
            )


def _files(folder: ModelFolder) -> Iterable[Path]:
    whole = (
        folder.config_file,
        folder.weights_file,
        folder.tokenizer_file,
        folder.alignment_file,
        folder.habits_file,
    )
    return [path for path in (*whole, *_exported(folder)) if path.is_file()]


def _exported(folder: ModelFolder) -> list[Path]:
    return [path for path in sorted(folder.ctranslate2.glob("*")) if path.name != MARK]


def _name(folder: ModelFolder, path: Path) -> str:
    return path.relative_to(folder.path).as_posix()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
