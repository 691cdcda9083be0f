"""Where the text to train on is."""

from dataclasses import dataclass
from pathlib import Path

from heedful.data.languages import language_of_file, refuse_no_code
from heedful.errors import ConfigError
from heedful.storage.languages import Direction

FILES = ("source", "target", "valid_source", "valid_target")


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

    credit: str = ""
    """From whom the text is, and under which licence: it stays with the model."""

    both_ways: bool = False
    """Whether to learn from these pairs to translate either way."""

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
    def direction(self) -> Direction:
        """From which language to which, as far as it is said or the names of files tell."""
        return Direction.of(
            self.from_language or language_of_file(self.source),
            self.to_language or language_of_file(self.target),
        )

    @property
    def directions(self) -> list[Direction]:
        """All that is learned from these pairs."""
        ways = [self.direction]
        return [*ways, ways[0].exchanged()] if self.both_ways else ways

    @property
    def files(self) -> list[Path]:
        """Every file that is named, in a fixed order."""
        return [Path(name) for field in FILES if (name := getattr(self, field))]


def directions_of(data: tuple[DataConfig, ...]) -> list[Direction]:
    """Return all directions of some corpora, each once, where they are several."""
    found = list(dict.fromkeys(way for each in data for way in each.directions))
    if len(found) == 1 and not any(each.both_ways for each in data):
        return found
    for each in data:
        if not all((each.direction.from_language, each.direction.to_language)):
            raise ConfigError(
                f"{each.source}: of which languages it is must be said where a model learns "
                "several; give from and to, as in from = 'en'"
            )
    return found
