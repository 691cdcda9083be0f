"""The models that are served, and which of them translates from what to what."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from heedful.errors import ConfigError
from heedful.server.languages import match
from heedful.storage.folder import ModelFolder
from heedful.translation.options import Options
from heedful.translation.translator import Translator, load

UNKNOWN = "und"  # ISO 639-2 for a language that nobody has named


class Direction(NamedTuple):
    """From which language to which, by their codes; empty where a model does not say."""

    from_language: str
    to_language: str


@dataclass(frozen=True)
class Model:
    """A model that is loaded, with the directions in which it translates."""

    name: str
    translator: Translator
    directions: tuple[Direction, ...]
    folder: ModelFolder | None = None
    names_languages: bool = field(default="from_language" in Options.__dataclass_fields__)
    """Whether its translator is told of languages."""

    def options(self, direction: Direction, **asked: Any) -> Options:
        """Return options for a direction."""
        if self.names_languages:
            own = getattr(self.translator, "languages", ())
            known = {code for pair in own for code in pair}
            asked |= {
                name: code if code in known else ""
                for name, code in zip(Direction._fields, direction, strict=True)
            }
        return Options(**asked)

    def guess(self, text: str) -> list[tuple[str, float]]:
        """Tell languages that a text may be in, the likeliest first."""
        if hasattr(self.translator, "guess"):
            return list(self.translator.guess(text))
        sources = list(dict.fromkeys(pair.from_language for pair in self.directions))
        return [(code, 1 / len(sources)) for code in sources]


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
    if any(stated) and len(paths) > 1:
        raise ConfigError("--from and --to are for one model; those of several say their own")
    return Models([_load(path, stated) for path in paths])


def _load(path: Path, stated: Direction) -> Model:
    folder = ModelFolder(path)
    translator = load(path)
    directions = _directions(folder, translator)
    if any(stated):
        own = directions[0]
        directions = (Direction(stated[0] or own[0], stated[1] or own[1]),)
    known = tuple(Direction(*(code or UNKNOWN for code in pair)) for pair in directions)
    return Model(folder.path.resolve().name, translator, known, folder)


def _directions(folder: ModelFolder, translator: Translator) -> tuple[Direction, ...]:
    if hasattr(translator, "languages"):
        return tuple(Direction(*pair) for pair in translator.languages)
    data = folder.provenance().data
    return (Direction(data.from_language, data.to_language),)
