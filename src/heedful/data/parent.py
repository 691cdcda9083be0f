"""What a model that goes on from another takes from it: its vocabulary, and pairs it may forget."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from heedful.data.corpus import text_digest
from heedful.data.files import DataConfig, directions_of
from heedful.data.tsv import Row, read_rows
from heedful.errors import ConfigError, ModelFolderError
from heedful.storage.folder import ModelFolder
from heedful.storage.languages import UNSTATED, Direction
from heedful.storage.shipped import model_path


@dataclass(frozen=True, kw_only=True)
class StartConfig:
    """From which model training goes on (fine-tuning)."""

    model: str = ""
    """A model folder, or the name of a model that comes with heedful; none begins from nothing."""

    mix: float = 0.5
    """The share of old pairs among those to train on, against forgetting: of the text the model was
    trained on, or if that is gone, what the model itself makes of the new sources."""

    def __post_init__(self) -> None:
        if not 0 <= self.mix < 1:
            raise ConfigError(f"mix must be from 0 to less than 1, got {self.mix:g}")

    @property
    def folder(self) -> ModelFolder | None:
        """The model, if there is one to go on from."""
        return ModelFolder(model_path(self.model)) if self.model else None


def checksum_of(parent: ModelFolder) -> str:
    """Return the sha256 of the weights of a model."""
    if not parent.weights_file.is_file():
        raise ModelFolderError(
            f"{parent.path} has no {parent.weights_file.name}, which going on needs; was it packed "
            "without? pack it --with-weights"
        )
    with parent.weights_file.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def learned_directions(parent: ModelFolder, data: tuple[DataConfig, ...]) -> list[Direction]:
    """Return the directions of new corpora, as the model has them; refuse what it has not."""
    known, wanted = parent.provenance().data.directions or [UNSTATED], directions_of(data)
    if len(known) == 1:
        if len(wanted) > 1 or not _agree(wanted[0], known[0]):
            raise _not_learned(parent, wanted, known)
        return known
    for way in wanted:
        if way not in known:
            raise _not_learned(parent, [way], known)
    return wanted


def _agree(one: Direction, other: Direction) -> bool:
    """Whether two directions may be the same, as far as they are stated."""
    pairs = zip(vars(one).values(), vars(other).values(), strict=True)
    return all(not ours or not theirs or ours == theirs for ours, theirs in pairs)


def _not_learned(
    parent: ModelFolder, wanted: list[Direction], known: list[Direction]
) -> ConfigError:
    return ConfigError(
        f"{parent.path} translates {', '.join(map(str, known))}, and the new pairs are "
        f"{', '.join(map(str, wanted))}; give their languages (--from en --to fr), or train "
        "a model from nothing"
    )


def old_rows(path: Path, count: int) -> Iterator[Row]:
    """Choose so many pairs of a corpus, by what they say and not by where they stand; or all."""
    digests = sorted((text_digest(f"{row}"), at) for at, row in enumerate(read_rows(path)))
    chosen = {at for _, at in digests[:count]}
    return (row for at, row in enumerate(read_rows(path)) if at in chosen)


def num_old(num_new: int, mix: float) -> int:
    """Return how many old pairs there are to so many new ones."""
    return round(num_new * mix / (1 - mix))
