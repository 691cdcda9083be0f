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


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Of the files of a folder with what was noted of them."""

    num_same: int = 0
    gone: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"{self.num_same} files are as they were made"] if self.num_same else []
        for what, names in (("gone", self.gone), ("changed", self.changed)):
            parts += [f"{what}: {', '.join(names)}"] if names else []
        return "; ".join(parts) or "none to check by"

    def refuse_changed(self, folder: ModelFolder) -> None:
        """Refuse a folder in which a file is not what it was."""
        if self.changed:
            raise ModelFolderError(
                f"{folder.path}: not as it was made: {', '.join(self.changed)} is damaged, or was "
                "changed by hand; copy the folder again"
            )


def write_checksums(folder: ModelFolder, *, of_all: bool = False) -> None:
    """Note which files were made together: those that translating reads, or all there are."""
    paths = _all_files(folder) if of_all else _files(folder)
    files = {_name(folder, path): _digest(path) for path in paths}
    document = asdict(Checksums(files=files))
    write_atomically(folder.checksums_file, json.dumps(document, indent=2) + "\n")


def compare(folder: ModelFolder) -> Comparison:
    """Look at every file that was noted, whether it is still the same."""
    if not folder.checksums_file.exists():
        return Comparison()
    known = read_whole_record(Checksums, folder.checksums_file).files
    found = {name: _digest_within(folder, name) for name in known}
    return Comparison(
        num_same=sum(found[name] == digest for name, digest in known.items()),
        gone=tuple(name for name in known if not found[name]),
        changed=tuple(name for name in known if found[name] not in ("", known[name])),
    )


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
        folder.languages_file,
    )
    return [path for path in (*whole, *_exported(folder)) if path.is_file()]


def _all_files(folder: ModelFolder) -> Iterable[Path]:
    paths = sorted(folder.path.rglob("*"))
    return [path for path in paths if path.is_file() and path != folder.checksums_file]


def _digest_within(folder: ModelFolder, name: str) -> str:
    """Return the digest of a file by its name in the folder, or nothing where there is none."""
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ModelFolderError(
            f"{folder.checksums_file}: {name!r} is no file of a model folder; copy the folder again"
        )
    path = folder.path / name
    return _digest(path) if path.is_file() else ""


def _exported(folder: ModelFolder) -> list[Path]:
    return [path for path in sorted(folder.ctranslate2.glob("*")) if path.name != MARK]


def _name(folder: ModelFolder, path: Path) -> str:
    return path.relative_to(folder.path).as_posix()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
