"""A model folder: the one thing that moves between the verbs. Reading it needs no torch."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import dropwhile
from pathlib import Path
from typing import Any

from heedful.errors import HeedfulError, ModelFolderError
from heedful.model.config import ModelConfig
from heedful.storage.alignment_head import AlignmentHead, usual_head
from heedful.storage.documents import read_record, read_whole_record, refuse_odd_file
from heedful.storage.habits import Habits
from heedful.storage.outputs import MARK, is_free, is_marked, mark, not_ours
from heedful.storage.provenance import Provenance
from heedful.storage.writing import folder_locked, has_lock, make_folder, remove_folder
from heedful.text.language_table import LanguageTable
from heedful.text.tokenizer import Tokenizer

_LARGEST_VOCABULARY = 1 << 28  # bytes; a million pieces take a tenth


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
        self.checksums_file = path / "checksums.json"
        self.habits_file = path / "habits.json"
        self.languages_file = path / "languages.json"
        self.ctranslate2 = path / "ctranslate2"
        self.shortlist_file = self.ctranslate2 / "vmap.txt"  # as CTranslate2 calls it
        self.onnx = path / "onnx"
        self.training = path / "training"
        self.corpus = self.training / "corpus"
        self.train_ids = self.corpus / "train"
        self.taught_file = self.training / "taught.tsv"
        self.new_pairs = self.training / "new"
        self.diagnoses_file = self.training / "diagnoses.jsonl"

    def old_file(self, parent: str, mix: float) -> Path:
        """Where the pairs are that must not be forgotten of a model, by its checksum."""
        return self.training / f"old-{parent[:12]}-{mix:g}.tsv"

    @property
    def is_finished(self) -> bool:
        """Whether training has ended; the provenance is what it writes last."""
        return self.provenance_file.exists()

    def refuse_foreign(self) -> None:
        """Refuse a folder in which there is anything but a run of ours."""
        if is_marked(self.training):
            at_the_end = (  # in the order in which they are written
                self.config_file,
                self.weights_file,
                self.tokenizer_file,
                self.alignment_file,
                self.habits_file,
                self.languages_file,
                self.card_file,
            )
            for path in dropwhile(Path.exists, at_the_end):
                if os.path.lexists(path):
                    raise not_ours(path)
        elif os.path.lexists(self.path) and not (
            self.path.is_dir()
            and all(path == self.training for path in self.path.iterdir())
            and is_free(self.training)
        ):
            raise ModelFolderError(
                f"{self.path} exists and is not a model folder; choose a new or empty folder"
            )

    def config(self) -> ModelConfig:
        """Read the sizes of the network."""
        self._require(self.config_file)
        return read_whole_record(ModelConfig, self.config_file)

    def tokenizer(self) -> Tokenizer:
        """Read the vocabulary."""
        self._require(self.tokenizer_file)
        refuse_odd_file(self.tokenizer_file, most_bytes=_LARGEST_VOCABULARY)
        return Tokenizer.load(self.tokenizer_file)

    def provenance(self) -> Provenance:
        """Read what the model was made from, how, and how well it did."""
        self._require(self.provenance_file)
        return read_record(Provenance, self.provenance_file)

    def alignment_head(self, config: ModelConfig) -> AlignmentHead:
        """Read which attention aligns words; a folder that does not say gets the usual one."""
        if not self.alignment_file.exists():
            return usual_head(config)
        head = read_whole_record(AlignmentHead, self.alignment_file)
        try:
            head.check(config)
        except HeedfulError as error:
            raise ModelFolderError(f"{self.alignment_file}: {error}") from error
        return head

    def habits(self) -> Habits:
        """Read what outputs are like; a folder that does not say gets what is usual."""
        if not self.habits_file.exists():
            return Habits()
        return read_whole_record(Habits, self.habits_file)

    def language_table(self) -> LanguageTable | None:
        """Read by what to tell languages; a folder of one direction has nothing."""
        if not self.languages_file.exists():
            return None
        return read_whole_record(LanguageTable, self.languages_file)

    def sizes(self) -> dict[str, int]:
        """Tell how many bytes each thing in it has; a folder's name ends with a slash."""
        return {
            f"{path.name}/" if path.is_dir() else path.name: _num_bytes(path)
            for path in sorted(self.path.iterdir())
        }

    def diagnoses(self) -> list[dict[str, Any]]:
        """Read what the doctor said during training, if there was one and anything to say."""
        if not self.diagnoses_file.exists():
            return []
        try:
            lines = self.diagnoses_file.read_text(encoding="utf-8").splitlines()
            diagnoses = [json.loads(line) for line in lines]
        except (OSError, ValueError, RecursionError) as error:
            raise not_ours(self.diagnoses_file) from error
        if not all(isinstance(it, dict) and isinstance(it.get("name"), str) for it in diagnoses):
            raise not_ours(self.diagnoses_file)
        return diagnoses

    def _require(self, path: Path) -> None:
        if os.path.isfile(self.path):
            raise ModelFolderError(
                f"{self.path} is a file and no model folder; if it was packed: unzip {self.path}"
            )
        if not os.path.isdir(self.path):  # which is no error for a path that cannot be
            raise ModelFolderError(f"{self.path}: no such model folder; check the path")
        if not path.exists():
            hint = (
                "its training has not finished; run the same `heedful train` command to go on"
                if self.training.is_dir()
                else "this is not a finished heedful model folder"
            )
            raise ModelFolderError(f"{self.path} has no {path.name}: {hint}")


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep a folder, which is made ours if need be, from other runs for the length of a block.

    If no run has begun in it by then, nothing is left of it.
    """
    folder = ModelFolder(path)
    make_folder(path)
    with folder_locked(path):
        make_folder(folder.training)
        if not is_marked(folder.training):
            mark(folder.training)
        marked = (folder.training / MARK).open("rb")
    with marked:
        if not has_lock(marked):
            raise ModelFolderError(
                f"{path}: another program is training here; wait for it, or choose another folder"
            )
        try:
            yield
        finally:
            _tidy(folder)


def _tidy(folder: ModelFolder) -> None:
    """Leave nothing behind of a run that has not begun."""
    if not folder.recipe_file.exists():
        remove_folder(folder.corpus)
        folder.diagnoses_file.unlink(missing_ok=True)
    if all(path.name == MARK for path in folder.training.iterdir()):
        (folder.training / MARK).unlink()
        with suppress(OSError):
            folder.training.rmdir()
            folder.path.rmdir()


def _num_bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
