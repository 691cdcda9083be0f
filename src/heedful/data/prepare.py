"""From files to a corpus ready to train on: cleaned text, a vocabulary, memory-mapped ids."""

import hashlib
import heapq
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from heedful.data.corpus import (
    CleaningConfig,
    CleaningReport,
    Pair,
    clean_pairs,
    read_pairs,
    text_digest,
)
from heedful.data.languages import language_of_file, refuse_no_code
from heedful.data.pair_ids import PairIds, write_pair_ids
from heedful.errors import ConfigError, CorpusError, ModelFolderError
from heedful.storage.outputs import refuse_foreign
from heedful.storage.writing import file_written_whole, folder_written_whole
from heedful.text.lines import refuse_no_text
from heedful.text.tokenizer import Tokenizer, TokenizerConfig, train_tokenizer

_MOST_HELD_OUT = 500
_HELD_OUT_SHARE = 20  # one in so many pairs, of a corpus too small to spare 500


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Where the text is. Without a target, the source is a TSV that holds both."""

    source: str = ""
    """The sentences to translate from, one per line, plain or .gz."""

    target: str = ""
    """Their translations, line by line."""

    valid_source: str = ""
    """Sentences to validate on; without them some of the training pairs are held out."""

    valid_target: str = ""
    """Their translations."""

    from_language: str = ""
    """The code of the source's language, such as en; else it is guessed from names like x.en."""

    to_language: str = ""
    """The code of the target's."""

    def __post_init__(self) -> None:
        for code in (self.from_language, self.to_language):
            refuse_no_code(code)
        if not self.source:
            raise ConfigError("source is missing; give --source, a text file or a TSV of pairs")
        if self.valid_target and not self.valid_source:
            raise ConfigError("valid_target is given without valid_source; name both")
        for path in self.files:
            try:
                str(path).encode()
            except UnicodeEncodeError:
                raise ConfigError(f"{str(path)!r}: its name is not UTF-8; rename it") from None

    @property
    def languages(self) -> tuple[str, str]:
        """From which language and to which, as far as it is said or the names of files tell."""
        return (
            self.from_language or language_of_file(self.source),
            self.to_language or language_of_file(self.target),
        )

    @property
    def files(self) -> list[Path]:
        """Every file that is named, in a fixed order."""
        names = (self.source, self.target, self.valid_source, self.valid_target)
        return [Path(name) for name in names if name]


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
        return (self.folder / "train.tsv").stat().st_size - 2 * len(self.train)

    def valid_pairs(self) -> list[Pair]:
        """Return the validation pairs as text."""
        return list(_read_tsv(self.folder / "valid.tsv"))

    def num_valid_trained_on(self) -> int:
        """Count the validation pairs that are training pairs as well."""
        valid = set(self.valid_pairs())
        return len({pair for pair in _read_tsv(self.folder / "train.tsv") if pair in valid})

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
    def is_taught(self) -> bool:
        """Whether teachers have added to the training pairs."""
        return (self.folder / "corpus.json").exists() and "taught" in self.about["made_from"]

    @property
    def report(self) -> CleaningReport:
        """How many pairs were read, and why some were dropped."""
        return CleaningReport(**self.about["cleaning"])

    @property
    def valid_report(self) -> CleaningReport | None:
        """The same of the validation pairs, if they come from files of their own."""
        cleaning = self.about.get("valid_cleaning")
        return cleaning and CleaningReport(**cleaning)


def prepare(
    folder: Path,
    data: DataConfig,
    cleaning: CleaningConfig,
    tokenizer: TokenizerConfig,
    readable_bytes: int | float = math.inf,
    taught: Path | None = None,
) -> PreparedCorpus:
    """Prepare a corpus in `folder`, or take the one there, which must come from the same files.

    One that was prepared in another way, for a run that never began, is prepared anew.

    The pairs of `taught`, a TSV, are trained on in place of those of the files, if it is given;
    they do not change how large a vocabulary is chosen.
    A vocabulary that is chosen by the corpus is chosen for no more text than `readable_bytes`.
    The folder appears when all of it is written: an interrupted try leaves nothing to trip over.
    """
    for path in data.files:
        refuse_no_text(path)
    refuse_foreign(folder)
    settings = {"cleaning": asdict(cleaning), "tokenizer": asdict(tokenizer)}
    made_from = {"files": [_describe_file(path) for path in data.files], "settings": settings}
    if (folder / "corpus.json").exists():
        _refuse_other_files(folder, made_from)
        if _is_prepared_so(PreparedCorpus(folder), settings, bool(taught)):
            return PreparedCorpus(folder)
    with folder_written_whole(folder) as partial:
        report, valid_report = _write_text(partial, data, cleaning)
        if taught:
            made_from["taught"] = _describe_file(taught)
            readable_bytes = min(readable_bytes, (partial / "train.tsv").stat().st_size)
            _write_taught(partial, taught, cleaning)
        _write_ids(partial, _vocabulary(partial, tokenizer, readable_bytes))
        about = {"made_from": made_from, "cleaning": asdict(report)}
        if valid_report:
            about["valid_cleaning"] = asdict(valid_report)
        (partial / "corpus.json").write_text(json.dumps(about, indent=2))
    return PreparedCorpus(folder)


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


def _write_text(
    folder: Path, data: DataConfig, cleaning: CleaningConfig
) -> tuple[CleaningReport, CleaningReport | None]:
    report, valid_report = CleaningReport(), None
    pairs = clean_pairs(read_pairs(*_paths(data.source, data.target)), cleaning, report)
    if data.valid_source:
        valid_report = CleaningReport()
        valid = read_pairs(*_paths(data.valid_source, data.valid_target))
        _write_tsv(folder / "valid.tsv", clean_pairs(valid, cleaning, valid_report))
        if not valid_report.kept:
            raise CorpusError(
                f"{data.valid_source}: {valid_report}; nothing is left to validate on"
            )
        _write_tsv(folder / "train.tsv", pairs)
    else:
        _write_tsv(folder / "all.tsv", pairs)
        _hold_out(folder)
    if not (folder / "train.tsv").stat().st_size or not (folder / "valid.tsv").stat().st_size:
        raise CorpusError(
            f"{data.source}: {report}; training needs at least two pairs with different sources"
        )
    return report, valid_report


def _write_taught(folder: Path, taught: Path, cleaning: CleaningConfig) -> None:
    """Take the training pairs from a TSV of teachers, but none with a source to validate on."""
    held_out = {text_digest(source) for source, _ in _read_tsv(folder / "valid.tsv")}
    pairs = (pair for pair in _read_tsv(taught) if text_digest(pair[0]) not in held_out)
    _write_tsv(folder / "train.tsv", clean_pairs(pairs, cleaning, CleaningReport()))
    if not (folder / "train.tsv").stat().st_size:
        raise CorpusError(
            f"{taught}: every source is one to validate on, so nothing is left to train on; "
            "validate on other sentences"
        )


def write_exchanged(corpus: PreparedCorpus, folder: Path) -> DataConfig:
    """Write the pairs of a corpus with their sides exchanged, held-out ones apart."""
    for split in ("train.tsv", "valid.tsv"):
        pairs = _read_tsv(corpus.folder / split)
        _write_whole_tsv(folder / split, ((target, source) for source, target in pairs))
    return DataConfig(source=str(folder / "train.tsv"), valid_source=str(folder / "valid.tsv"))


def _hold_out(folder: Path) -> None:
    """Split `all.tsv` by source sentence, so that no validation source is trained on."""

    def digests() -> Iterator[int]:
        return (text_digest(source) for source, _ in _read_tsv(folder / "all.tsv"))

    wanted = min(_MOST_HELD_OUT, -(-sum(1 for _ in digests()) // _HELD_OUT_SHARE))
    limit = max(heapq.nsmallest(wanted, digests()), default=0)
    for name, is_valid in (("valid.tsv", True), ("train.tsv", False)):
        pairs = _read_tsv(folder / "all.tsv")
        _write_tsv(
            folder / name, (pair for pair in pairs if (text_digest(pair[0]) <= limit) == is_valid)
        )
    (folder / "all.tsv").unlink()


def _vocabulary(folder: Path, config: TokenizerConfig, readable_bytes: int | float) -> Tokenizer:
    def texts() -> Iterator[str]:
        for pair in _read_tsv(folder / "train.tsv"):
            yield from pair

    return train_tokenizer(texts, config, readable_bytes)


def _write_ids(folder: Path, tokenizer: Tokenizer) -> None:
    (folder / "tokenizer.model").write_bytes(tokenizer.model)
    for split in ("train", "valid"):
        ids = (
            (tokenizer.encode(source), tokenizer.encode(target))
            for source, target in _read_tsv(folder / f"{split}.tsv")
        )
        write_pair_ids(folder / split, ids, tokenizer.vocab_size)


def _write_whole_tsv(path: Path, pairs: Iterable[Pair]) -> None:
    with file_written_whole(path) as file:
        file.writelines(_tsv(pairs))


def _write_tsv(path: Path, pairs: Iterable[Pair]) -> None:
    with path.open("wb") as file:
        file.writelines(_tsv(pairs))


def _tsv(pairs: Iterable[Pair]) -> Iterator[bytes]:
    return (f"{source}\t{target}\n".encode() for source, target in pairs)


def _read_tsv(path: Path) -> Iterator[Pair]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            source, target = line.rstrip("\n").split("\t")
            yield source, target


def _paths(source: str, target: str) -> tuple[Path, Path | None]:
    return Path(source), Path(target) if target else None


def _describe_file(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "bytes": path.stat().st_size, "sha256": checksum}
