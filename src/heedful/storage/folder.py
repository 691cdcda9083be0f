"""A model folder: the one thing that moves between the verbs. Reading it needs no torch."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from heedful.errors import HeedfulError, ModelFolderError, StorageError
from heedful.model.config import ModelConfig
from heedful.storage.alignment_head import AlignmentHead, usual_head
from heedful.storage.habits import Habits, read_habits
from heedful.text.tokenizer import Tokenizer


class ModelFolder:
    """Where a trained model keeps its parts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_file = path / "config.json"
        self.weights_file = path / "model.safetensors"
        self.tokenizer_file = path / "tokenizer.model"
        self.recipe_file = path / "recipe.toml"
        self.provenance_file = path / "provenance.json"
        self.card_file = path / "README.md"
        self.curves_file = path / "curves.csv"
        self.curves_picture = path / "curves.svg"
        self.alignment_file = path / "alignment.json"
        self.habits_file = path / "habits.json"
        self.ctranslate2 = path / "ctranslate2"
        self.shortlist_file = self.ctranslate2 / "vmap.txt"  # as CTranslate2 calls it
        self.onnx = path / "onnx"
        self.training = path / "training"
        self.corpus = self.training / "corpus"
        self.train_ids = self.corpus / "train"
        self.taught_file = self.training / "taught.tsv"
        self.diagnoses_file = self.training / "diagnoses.jsonl"

    @property
    def is_finished(self) -> bool:
        """Whether training has ended; the provenance is what it writes last."""
        return self.provenance_file.exists()

    def config(self) -> ModelConfig:
        """Read the sizes of the network."""
        document = self._read_json(self.config_file)
        known = {field.name for field in fields(ModelConfig)}
        if unknown := sorted(document.keys() - known):
            raise ModelFolderError(
                f"{self.config_file}: unknown name '{unknown[0]}'; "
                "the model was made by a newer heedful, so upgrade"
            )
        try:
            return ModelConfig(**document)
        except (TypeError, HeedfulError) as error:
            raise ModelFolderError(f"{self.config_file}: {error}") from error

    def tokenizer(self) -> Tokenizer:
        """Read the vocabulary."""
        self._require(self.tokenizer_file)
        return Tokenizer.load(self.tokenizer_file)

    def provenance(self) -> dict[str, Any]:
        """Read what the model was made from, how, and how well it did."""
        provenance = self._read_json(self.provenance_file)
        needed = {"created", "versions", "machine", "data", "model", "training", "search", "scores"}
        if missing := sorted(needed - provenance.keys()):
            raise ModelFolderError(
                f"{self.provenance_file}: '{missing[0]}' is missing; train or copy it again"
            )
        return provenance

    def alignment_head(self, config: ModelConfig) -> AlignmentHead:
        """Read which attention aligns words; a folder that does not say gets the usual one."""
        if not self.alignment_file.exists():
            return usual_head(config)
        document = self._read_json(self.alignment_file)
        try:
            head = AlignmentHead(**document)
            head.check(config)
        except (TypeError, HeedfulError) as error:
            raise ModelFolderError(f"{self.alignment_file}: {error}") from error
        return head

    def habits(self) -> Habits:
        """Read what outputs are like; a folder that does not say gets what is usual."""
        if not self.habits_file.exists():
            return Habits()
        document = self._read_json(self.habits_file)
        try:
            return read_habits(document)
        except (OverflowError, HeedfulError) as error:
            raise ModelFolderError(
                f"{self.habits_file}: {error}; train or copy it again"
            ) from error

    def diagnoses(self) -> list[dict[str, Any]]:
        """Read what the doctor said during training, if there was one and anything to say."""
        if not self.diagnoses_file.exists():
            return []
        lines = self.diagnoses_file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def _read_json(self, path: Path) -> dict[str, Any]:
        self._require(path)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelFolderError(f"{path}: damaged, {error}; train or copy it again") from error
        if not isinstance(document, dict):
            raise ModelFolderError(f"{path}: damaged, not a JSON object; train or copy it again")
        return document

    def _require(self, path: Path) -> None:
        if not self.path.is_dir():
            raise ModelFolderError(f"{self.path}: no such model folder; check the path")
        if not path.exists():
            hint = (
                "its training has not finished; run the same `heedful train` command to go on"
                if self.training.is_dir()
                else "this is not a finished heedful model folder"
            )
            raise ModelFolderError(f"{self.path} has no {path.name}: {hint}")


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that it is there whole or not at all, whatever happens meanwhile."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        _settle(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StorageError(
            f"{path}: cannot be written, {error.strerror or error}; nothing saved is lost, "
            "so make room and run the same command to go on"
        ) from error


def make_folder(path: Path) -> None:
    """Make a folder and those above it, if they are not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be made, {error.strerror}; choose another folder, or make room and "
            "run the same command to go on"
        ) from error


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep a folder, which is made if need be, from other runs for the length of a block."""
    make_folder(path)
    with _locked(path) if os.name == "posix" else nullcontext():
        try:
            yield
        finally:
            with suppress(OSError):
                path.rmdir()  # if nothing was written to it


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl  # which Windows does not have

    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(folder)
        raise ModelFolderError(
            f"{path}: another program is training here; wait for it, or choose another folder"
        ) from error
    except OSError:
        pass  # a disk that knows no locks
    try:
        yield
    finally:
        os.close(folder)


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """Give a folder to write into, which takes the place of `path` when all of it is written."""
    partial = path.with_name(path.name + ".partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        yield partial
        shutil.rmtree(path, ignore_errors=True)
        partial.replace(path)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written, {error.strerror or error}; "
            "make room and run the same command again"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _settle(partial: Path, path: Path) -> None:
    """Put a completely written file in its place and make that last."""
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(partial, path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
