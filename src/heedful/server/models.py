"""The models that are served, and which of them translates from what to what."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from heedful.errors import ConfigError
from heedful.server.languages import match
from heedful.storage.folder import ModelFolder
from heedful.storage.languages import UNSTATED, Direction
from heedful.translation.options import Options
from heedful.translation.routes import find_route
from heedful.translation.translator import Translator, load

UNKNOWN = "und"  # ISO 639-2 for a language that nobody has named


@dataclass(frozen=True)
class Model:
    """A model that is loaded, with the directions in which it translates."""

    name: str
    translator: Translator
    directions: tuple[Direction, ...]
    folder: ModelFolder | None = None

    def options(self, direction: Direction, **asked: Any) -> Options:
        """Return options for a direction; a model of one may not know what it is called."""
        if len(self.translator.languages) > 1:
            asked |= vars(direction)
        return Options(**asked)

    def guess(self, text: str) -> list[tuple[str, float]]:
        """Tell languages that a text may be in, by what they are called here."""
        guesses = self.translator.guess(text)
        if len(self.translator.languages) == 1:
            return [(self.directions[0].from_language, 1.0)] if guesses else []
        return [(guess.language, guess.probability) for guess in guesses]


class Way(NamedTuple):
    """A model, and one of its directions."""

    model: Model
    direction: Direction


class Models:
    """All models that are served. Of two for one direction the first is taken, unless named."""

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise ConfigError("no model is given to serve; name a model folder")
        names = [model.name for model in models]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two models are named '{name}'; rename one of the folders")
        self.all = {model.name: model for model in models}
        ways = [Way(model, pair) for model in models for pair in model.directions]
        self.ways = ways
        self.sources = list(dict.fromkeys(way.direction.from_language for way in ways))
        self.targets = list(dict.fromkeys(way.direction.to_language for way in ways))

    def source(self, code: str) -> str | None:
        """Find a language to translate from by any code of it."""
        return match(code, self.sources)

    def target(self, code: str) -> str | None:
        """Find a language to translate to by any code of it."""
        return match(code, self.targets)

    def targets_of(self, source: str) -> list[str]:
        """List what a language is translated to."""
        found = (way.direction for way in self.ways)
        return list(
            dict.fromkeys(pair.to_language for pair in found if pair.from_language == source)
        )

    def way(self, source: str, target: str, name: str = "") -> Way | None:
        """Find what translates in a direction."""
        wanted = Direction(source, target)
        return next(
            (way for way in self.ways if way.direction == wanted and name in ("", way.model.name)),
            None,
        )

    def guess(self, text: str) -> list[tuple[str, float]]:
        """Tell languages that a text may be in, with their probability, the likeliest first."""
        best: dict[str, float] = {}
        for code, probability in chain(*(model.guess(text) for model in self.all.values())):
            if code in self.sources:
                best[code] = max(probability, best.get(code, 0.0))
        return sorted(best.items(), key=lambda item: -item[1])


def load_models(
    folders: Iterable[Path], *, from_language: str = "", to_language: str = ""
) -> Models:
    """Load model folders; languages are stated for one that does not say its own."""
    paths = list(folders)
    stated = Direction(from_language, to_language)
    if stated != UNSTATED and len(paths) > 1:
        raise ConfigError("--from and --to are for one model; those of several say their own")
    return Models([_load(path, stated) for path in paths])


def _load(path: Path, stated: Direction) -> Model:
    folder = ModelFolder(path)
    translator = load(path)
    known = tuple(_directions(translator.languages))
    if stated != UNSTATED:
        if len(translator.languages) > 1:
            raise ConfigError(f"{path}: says its languages itself; leave out --from and --to")
        known = (stated,)
    named = tuple(
        Direction(pair.from_language or UNKNOWN, pair.to_language or UNKNOWN) for pair in known
    )
    return Model(folder.path.resolve().name, translator, named, folder)


def _directions(own: Sequence[Direction]) -> Iterator[Direction]:
    """Give the directions of a model, and after them those that go through a third language."""
    yield from own
    sources = dict.fromkeys(pair.from_language for pair in own)
    targets = dict.fromkeys(pair.to_language for pair in own)
    for pair in (Direction(source, target) for source in sources for target in targets):
        if pair in own or pair.from_language == pair.to_language:
            continue
        with suppress(ConfigError):  # there is no way
            find_route(own, pair.from_language, pair.to_language)
            yield pair
