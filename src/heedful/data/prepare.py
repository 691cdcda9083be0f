"""From files to a corpus ready to train on: cleaned text, a vocabulary, memory-mapped ids."""

import hashlib
import json
import math
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from heedful.data.corpus import (
    CleaningConfig,
    CleaningReport,
    Pair,
    clean_pairs,
    text_digest,
)
from heedful.data.files import DataConfig, directions_of
from heedful.data.forms import FormsConfig, as_typed, casing_of
from heedful.data.pair_ids import PairIds, write_pair_ids
from heedful.data.parent import checksum_of, learned_directions
from heedful.data.several import write_text
from heedful.data.tsv import Row, read_rows, write_rows, write_rows_whole
from heedful.errors import CorpusError, ModelFolderError
from heedful.storage.folder import ModelFolder
from heedful.storage.languages import Direction
from heedful.storage.outputs import refuse_foreign
from heedful.storage.writing import folder_written_whole
from heedful.text.language_table import learn_languages
from heedful.text.lines import refuse_no_text
from heedful.text.tokenizer import Tokenizer, TokenizerConfig, train_tokenizer

FEWEST_BRIDGED = 1_000  # pairs, to learn a direction that has no corpus of its own


@dataclass(frozen=True)
class PreparedCorpus:
    """A corpus on disk, ready to train on."""

    folder: Path

    @property
    def tokenizer(self) -> Tokenizer:
        """The vocabulary learned from the training text."""
        return Tokenizer.load(self.folder / "tokenizer.model")

    @property
    def train(self) -> PairIds:
        """The ids of the training pairs."""
        return PairIds(self.folder / "train")

    @property
    def valid(self) -> PairIds:
        """The ids of the validation pairs."""
        return PairIds(self.folder / "valid")

    @property
    def num_train_bytes(self) -> int:
        """The size of the training text, tabs and line ends aside."""
        rows = read_rows(self.folder / "train.tsv")
        return sum(len(text.encode()) for row in rows for text in row[:2])

    @property
    def directions(self) -> list[Direction]:
        """From which languages to which it translates."""
        return [Direction.of(*way) for way in self.about["directions"]]

    def valid_rows(self) -> list[Row]:
        """Return the validation pairs as text, with their directions where there are several."""
        return list(read_rows(self.folder / "valid.tsv"))

    def valid_pairs(self) -> list[Pair]:
        """Return the validation pairs as text."""
        return [(row.source, row.target) for row in self.valid_rows()]

    def num_valid_trained_on(self) -> int:
        """Count the validation pairs that are training pairs as well."""
        valid = set(self.valid_rows())
        return len({row for row in read_rows(self.folder / "train.tsv") if row in valid})

    @property
    def about(self) -> dict[str, Any]:
        """What was read and dropped, and the checksums of the files."""
        path = self.folder / "corpus.json"
        try:
            document: dict[str, Any] = json.loads(path.read_bytes())
        except ValueError as error:
            raise ModelFolderError(
                f"{path}: damaged, {error}; choose another folder, or delete {self.folder}"
            ) from error
        return document

    @property
    def languages_file(self) -> Path:
        """By what to tell the languages, if there are several."""
        return self.folder / "languages.json"

    @property
    def is_taught(self) -> bool:
        """Whether teachers have added to the training pairs."""
        return (self.folder / "corpus.json").exists() and "taught" in self.about["made_from"]

    @property
    def has_parent(self) -> bool:
        """Whether its vocabulary is that of a model that is gone on from."""
        return "parent" in self.about["made_from"]["settings"]

    @property
    def report(self) -> CleaningReport:
        """How many pairs were read, and why some were dropped."""
        return CleaningReport(**self.about["cleaning"])

    @property
    def valid_report(self) -> CleaningReport | None:
        """The same of the validation pairs, if they come from files of their own."""
        cleaning = self.about.get("valid_cleaning")
        return cleaning and CleaningReport(**cleaning)


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How text becomes a corpus."""

    cleaning: CleaningConfig = field(default_factory=CleaningConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    forms: FormsConfig = field(default_factory=FormsConfig)
    readable_bytes: int | float = math.inf
    """A vocabulary that is chosen by the corpus is chosen for no more text than that."""
    taught: Path | None = None
    """A TSV of pairs to train on in place of those of the files; they do not change how large a
    vocabulary is chosen."""
    parent: ModelFolder | None = None
    """A model that is gone on from: its vocabulary stays."""
    old: Path | None = None
    """A TSV of pairs that it shall not forget, to train on as well."""

    @property
    def settings(self) -> dict[str, Any]:
        """All that what is prepared depends on, beside files and teachers."""
        of_all: dict[str, Any] = {
            name: asdict(getattr(self, name)) for name in ("cleaning", "tokenizer", "forms")
        }
        if self.parent:
            of_all["parent"] = checksum_of(self.parent)
            of_all["old"] = _describe_file(self.old) if self.old else {}
        return of_all

    def directions(self, data: tuple[DataConfig, ...]) -> list[Direction]:
        """Return what is learned from some corpora."""
        return learned_directions(self.parent, data) if self.parent else directions_of(data)

    def has_tags(self, directions: Sequence[Direction]) -> bool:
        """Whether the model is told which language to write."""
        return bool(self.parent.tokenizer().tags) if self.parent else len(directions) > 1


def prepare(folder: Path, data: tuple[DataConfig, ...], how: Preparation) -> PreparedCorpus:
    """Prepare a corpus in `folder`, or take the one there, which must come from the same files.

    One that was prepared in another way, for a run that never began, is prepared anew.
    The folder appears when all of it is written: an interrupted try leaves nothing to trip over.
    """
    directions = how.directions(data)
    files = [path for each in data for path in each.files]
    for path in files:
        refuse_no_text(path)
    refuse_foreign(folder)
    made_from = {"files": [_describe_file(path) for path in files], "settings": how.settings}
    if (folder / "corpus.json").exists():
        _refuse_other_files(folder, made_from)
        if _is_prepared_so(PreparedCorpus(folder), how.settings, bool(how.taught)):
            return PreparedCorpus(folder)
    is_tagged = how.has_tags(directions)
    with folder_written_whole(folder) as partial:
        report, valid_report = write_text(partial, data, how.cleaning, is_tagged=is_tagged)
        if how.taught:
            made_from["taught"] = _describe_file(how.taught)
        if how.parent:
            _follow(how.parent, partial, how)
            directions = how.parent.provenance().data.directions or directions
        else:
            directions = [*directions, *_bridged(partial, directions)]
            tags = [way.to_language for way in directions] if is_tagged else []
            _begin(partial, how, tags)
        ways = [(way.from_language, way.to_language) for way in directions]
        about = {"made_from": made_from, "directions": ways, "cleaning": asdict(report)}
        if valid_report:
            about["valid_cleaning"] = asdict(valid_report)
        (partial / "corpus.json").write_text(json.dumps(about, indent=2))
    return PreparedCorpus(folder)


def _bridged(folder: Path, stated: Sequence[Direction]) -> list[Direction]:
    """Return the directions between corpora that there are enough pairs to learn."""
    counts = Counter(row.direction for row in read_rows(folder / "train.tsv"))
    return [
        way
        for way, count in counts.items()
        if way and way not in stated and count >= FEWEST_BRIDGED
    ]


def _begin(folder: Path, how: Preparation, tags: Sequence[str]) -> None:
    """Cut the text into pieces of a vocabulary of its own."""
    readable_bytes = how.readable_bytes
    if how.taught:
        readable_bytes = min(readable_bytes, (folder / "train.tsv").stat().st_size)
        _write_taught(folder, how.taught, how.cleaning)
    if how.forms.share:
        _write_as_typed(folder, how.forms)
    _write_ids(folder, _vocabulary(folder, how.tokenizer, readable_bytes, tags))
    if tags:
        write_languages(PreparedCorpus(folder))


def _follow(parent: ModelFolder, folder: Path, how: Preparation) -> None:
    """Cut the text into the pieces that a model knows, beside text that it knows."""
    if how.forms.share:
        _write_as_typed(folder, how.forms)
    if how.old:
        with (folder / "train.tsv").open("ab") as file, how.old.open("rb") as old:
            shutil.copyfileobj(old, file)
    _write_ids(folder, parent.tokenizer())
    if parent.languages_file.exists():
        shutil.copyfile(parent.languages_file, PreparedCorpus(folder).languages_file)


def _refuse_other_files(folder: Path, made_from: dict[str, Any]) -> None:
    before = PreparedCorpus(folder).about["made_from"]
    for old, new in zip_longest(before["files"], made_from["files"]):
        if not old or not new or old["sha256"] != new["sha256"]:
            name = (new or old)["name"]
            raise ModelFolderError(
                f"{folder} was made from other files: {name} is not what it was; "
                "restore it, or choose another folder"
            )


def _is_prepared_so(corpus: PreparedCorpus, settings: dict[str, Any], is_taught: bool) -> bool:
    return corpus.is_taught == is_taught and corpus.about["made_from"]["settings"] == settings


def _write_taught(folder: Path, taught: Path, cleaning: CleaningConfig) -> None:
    """Take the training pairs from a TSV of teachers, but none with a source to validate on."""
    held_out = {text_digest(row.source) for row in read_rows(folder / "valid.tsv")}
    pairs = (row[:2] for row in read_rows(taught) if text_digest(row.source) not in held_out)
    write_rows(folder / "train.tsv", clean_pairs(pairs, cleaning, CleaningReport()))
    if not (folder / "train.tsv").stat().st_size:
        raise CorpusError(
            f"{taught}: every source is one to validate on, so nothing is left to train on; "
            "validate on other sentences"
        )


def write_exchanged(corpus: PreparedCorpus, folder: Path) -> DataConfig:
    """Write the pairs of a corpus with their sides exchanged, held-out ones apart."""
    for split in ("train.tsv", "valid.tsv"):
        rows = read_rows(corpus.folder / split)
        write_rows_whole(folder / split, (row.exchanged() for row in rows))
    return DataConfig(source=str(folder / "train.tsv"), valid_source=str(folder / "valid.tsv"))


def _write_as_typed(folder: Path, forms: FormsConfig) -> None:
    """Write some of the training pairs as people type them."""
    tidy = (folder / "train.tsv").rename(folder / "tidy.tsv")
    write_rows(folder / "train.tsv", as_typed(read_rows(tidy), forms, casing_of(read_rows(tidy))))
    tidy.unlink()


def _vocabulary(
    folder: Path, config: TokenizerConfig, readable_bytes: int | float, tags: Sequence[str]
) -> Tokenizer:
    def texts() -> Iterator[str]:
        for source, target, _ in read_rows(folder / "train.tsv"):
            yield source
            yield target

    return train_tokenizer(texts, config, readable_bytes, tags)


def _write_ids(folder: Path, tokenizer: Tokenizer) -> None:
    (folder / "tokenizer.model").write_bytes(tokenizer.model)
    for split in ("train", "valid"):
        rows = read_rows(folder / f"{split}.tsv")
        ids = ((_source_ids(tokenizer, row), tokenizer.encode(row.target)) for row in rows)
        write_pair_ids(folder / split, ids, tokenizer.vocab_size)


def _source_ids(tokenizer: Tokenizer, row: Row) -> list[int]:
    """Cut a source into pieces, after the tag of the language to translate it to."""
    ids = tokenizer.encode(row.source)
    return [tokenizer.tags[row.direction.to_language], *ids] if row.direction else ids


def write_languages(corpus: PreparedCorpus) -> None:
    """Learn by what to tell the languages of a corpus."""
    rows = corpus.valid_rows()
    judged = [(row.direction.to_language, row.target) for row in rows if row.direction]
    judged += [(row.direction.from_language, row.source) for row in rows if row.direction]
    texts = {code: _texts_in(code, corpus.folder / "train.tsv") for code, _ in judged}
    table = json.dumps(asdict(learn_languages(texts, judged)), ensure_ascii=False)
    corpus.languages_file.write_text(f"{table}\n", encoding="utf-8", newline="\n")


def _texts_in(language: str, path: Path) -> Iterator[str]:
    """Read what there is in a language."""
    for row in read_rows(path):
        if row.direction and row.direction.from_language == language:
            yield row.source
        elif row.direction and row.direction.to_language == language:
            yield row.target


def _describe_file(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": checksum}
