"""A model in one file, to be given away: without the text that it was made from."""

import json
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo, is_zipfile

from heedful.data.files import FILES, DataConfig
from heedful.errors import ConfigError, ModelFolderError, StorageError, printable
from heedful.runs.recipe import load_recipe
from heedful.storage.card import model_card
from heedful.storage.checksums import compare, write_checksums
from heedful.storage.folder import ModelFolder
from heedful.storage.outputs import becomes_a_file, real_output, refuse_foreign
from heedful.storage.partial_file import PartialFile
from heedful.storage.provenance import Example, Provenance

_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # so that the same model packs into the same bytes
_FOR_ALL_TO_READ = (stat.S_IFREG | 0o644) << 16


@dataclass(frozen=True, kw_only=True)
class Packed:
    """What was written."""

    path: Path
    num_bytes: int
    is_card_as_it_was: bool
    """Whether the card is not what we write, so that it may show anything."""


def pack(
    folder: ModelFolder,
    output: Path,
    *,
    with_weights: bool = False,
    with_examples: bool = False,
    small: bool = False,
) -> Packed:
    """Write what translating needs of a model folder into a zip file.

    Nothing in it is a sentence of the corpus, unless `with_examples` keeps those that the card
    shows, and nothing says in which folders the files lay. A small one has its weights twice, both
    times rounded: int8 for CTranslate2, and float16 for all else.
    """
    compare(folder).refuse_changed(folder)
    provenance = folder.provenance()
    output = real_output(output, [folder.path])
    if not becomes_a_file(output):
        raise ConfigError(f"{output} is no file; name a file to write, such as model.zip")
    _refuse_odd_name(output)
    is_own_card = folder.card_file.exists() and _text(folder.card_file) != model_card(provenance)
    if is_own_card and not with_examples:
        _refuse_shown(provenance.examples, folder.card_file)
    try:
        with TemporaryDirectory() as temporary:
            packed = ModelFolder(Path(temporary))
            _copy(folder, packed, with_weights=with_weights or not folder.ctranslate2.is_dir())
            if small:
                provenance = _rounded(folder, packed, provenance)
            _write_recipe(folder, packed)
            shown = provenance if with_examples else replace(provenance, examples=[])
            _describe(packed, replace(shown, sizes=packed.sizes()))
            if is_own_card:
                shutil.copyfile(folder.card_file, packed.card_file)
            write_checksums(packed, of_all=True)
            _zip(packed, output)
    except OSError as error:
        raise StorageError(f"{output}: cannot be packed, {error}; make room") from error
    return Packed(path=output, num_bytes=output.stat().st_size, is_card_as_it_was=is_own_card)


@contextmanager
def opened(path: Path) -> Iterator[ModelFolder]:
    """Give a model folder, or what a packed one holds for the length of a block."""
    if not os.path.isfile(path):  # which is no error for a path that cannot be
        yield ModelFolder(path)
        return
    with TemporaryDirectory() as temporary:
        try:
            folder = _unzip(path, Path(temporary))
        except (BadZipFile, RuntimeError, NotImplementedError, OSError) as error:
            raise ModelFolderError(f"{path}: cannot be unpacked, {error}") from error
        try:
            yield ModelFolder(folder)
        except ModelFolderError as error:
            raise ModelFolderError(str(error).replace(str(folder), str(path))) from error


def _refuse_odd_name(output: Path) -> None:
    """Refuse a name that the folder in the zip cannot have on every machine."""
    if not output.stem.isprintable() or "\\" in output.stem:
        raise ConfigError(
            f"{output}: the folder in it would have its name, so no \\ and no sign that cannot be "
            "shown may be in it; name another output"
        )


def _copy(folder: ModelFolder, packed: ModelFolder, *, with_weights: bool) -> None:
    """Copy what was made for translating and to be looked at, and nothing else that lies there."""
    files = [
        folder.config_file,
        folder.tokenizer_file,
        folder.alignment_file,
        folder.habits_file,
        folder.languages_file,
        folder.curves_file,
        folder.curves_picture,
        *([folder.weights_file] if with_weights else []),
    ]
    for path in filter(Path.exists, files):
        shutil.copyfile(path, packed.path / path.name)
    for path in [folder.ctranslate2, *([folder.onnx] if with_weights else [])]:
        if path.is_dir():
            refuse_foreign(path)
            shutil.copytree(path, packed.path / path.name)


def _rounded(folder: ModelFolder, packed: ModelFolder, provenance: Provenance) -> Provenance:
    """Write the weights rounded, and say so."""
    from heedful.interop.ctranslate2 import export_rounded  # which needs torch
    from heedful.storage.checkpoint import load_model, save_rounded

    save_rounded(packed, load_model(folder))
    if packed.ctranslate2.is_dir():
        export_rounded(folder, packed.ctranslate2)
    return replace(provenance, model=replace(provenance.model, is_rounded=True))


def _write_recipe(folder: ModelFolder, packed: ModelFolder) -> None:
    recipe = load_recipe(str(folder.recipe_file))
    start = replace(recipe.start, model=Path(recipe.start.model).name)
    bare = replace(recipe, data=tuple(map(_without_places, recipe.data)), start=start)
    packed.recipe_file.write_text(bare.toml(), encoding="utf-8", newline="\n")


def _without_places(data: DataConfig) -> DataConfig:
    """Name files without the folders that they lay in."""
    bare: dict[str, Any] = {
        name: Path(place).name for name, place in vars(data).items() if name in FILES
    }
    return replace(data, **bare)


def _describe(packed: ModelFolder, provenance: Provenance) -> None:
    document = json.dumps(asdict(provenance), indent=2) + "\n"
    packed.provenance_file.write_text(document, encoding="utf-8", newline="\n")
    packed.card_file.write_text(model_card(provenance), encoding="utf-8", newline="\n")


def _refuse_shown(examples: Iterable[Example], card: Path) -> None:
    """Refuse a card that was not written by us, or not as we write it now, and shows examples."""
    text = _text(card).replace("\\|", "|")
    for example in examples:
        for sentence in astuple(example):
            if sentence and printable(sentence) in text:
                raise ConfigError(
                    f"{card} is not as heedful writes it, and shows '{printable(sentence):.60}' of "
                    "the validation pairs; take such sentences out, delete the file to have it "
                    "written anew, or keep them: --with-examples"
                )


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


def _zip(packed: ModelFolder, output: Path) -> None:
    """Write a folder as a zip, named as the zip is, in an order and at a time that never change."""
    paths = sorted(path for path in packed.path.rglob("*") if path.is_file())
    with PartialFile(output).begun() as file, ZipFile(file, "w", ZIP_STORED) as archive:
        for path in paths:
            name = f"{output.stem}/{path.relative_to(packed.path).as_posix()}"
            info = ZipInfo(name, _LONG_AGO)
            info.create_system, info.external_attr = 3, _FOR_ALL_TO_READ
            info.file_size = path.stat().st_size
            with path.open("rb") as source, archive.open(info, "w") as target:
                shutil.copyfileobj(source, target)


def _unzip(path: Path, into: Path) -> Path:
    """Unpack what may come from a stranger: plain files in one folder, no larger than the zip."""
    if not is_zipfile(path):
        raise ModelFolderError(f"{path} is neither a model folder nor a packed one; check the path")
    with ZipFile(path) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > path.stat().st_size:
            raise BadZipFile("its parts are larger than itself")
        for entry in entries:
            _refuse_odd(entry)
            archive.extract(entry, into)
    folders = list(into.iterdir())
    if len(folders) != 1:
        raise BadZipFile(f"it holds {len(folders)} folders in place of one")
    return folders[0]


def _refuse_odd(entry: ZipInfo) -> None:
    """Refuse an entry that `heedful pack` does not write."""
    parts = PurePosixPath(entry.filename).parts
    kind = stat.S_IFMT(entry.external_attr >> 16)
    is_plain = kind in (0, stat.S_IFREG) and not entry.is_dir()
    if not is_plain or len(parts) < 2 or {"..", "/"} & {*parts} or "\\" in entry.filename:
        raise BadZipFile(f"{entry.filename!r} does not belong into a model folder")
