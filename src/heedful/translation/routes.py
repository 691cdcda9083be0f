"""From which language to which: directly, or through a third."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import product
from typing import NamedTuple, TypeVar

from heedful.errors import ConfigError, near_miss
from heedful.storage.languages import Direction
from heedful.text.language_table import Guess
from heedful.translation.options import Options

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")

Route = tuple[Direction, ...]
"""One way, or two where a model has not learned the direct one."""


class Course(NamedTuple):
    """The way that a text takes, none if it stays as it is, and what is to be said of that."""

    route: Route
    flag: str = ""


def find_route(directions: Sequence[Direction], from_language: str, to_language: str) -> Route:
    """Find the shortest way from a language, if that is known, to another."""
    refuse_unknown(directions, from_language, to_language)
    if route := known_route(directions, from_language, to_language):
        return route
    raise ConfigError(
        f"no way from {from_language} to {to_language}; this model has: {_listed(directions)}"
    )


def known_route(
    directions: Sequence[Direction], from_language: str, to_language: str
) -> Route | None:
    """Find the shortest way, if there is one."""
    for way in directions:
        if _fits(from_language, way.from_language) and _fits(to_language, way.to_language):
            return (way,)
    for first, second in product(directions, repeat=2):
        is_joined = first.to_language == second.from_language
        ends = first.from_language, second.to_language
        if is_joined and ends == (from_language, to_language) and from_language != to_language:
            return first, second
    return None


def find_course(
    text: str,
    directions: Sequence[Direction],
    options: Options,
    guess: Callable[[str], Sequence[Guess]] | None,
) -> Course:
    """Choose the way of a text, by the language that is stated or that it seems to be in."""
    from_language, to_language = options.from_language, options.to_language
    usual = find_route(directions, from_language, to_language)
    if from_language or not guess or not any(map(str.isalpha, text)):
        return Course(usual)
    likely = [each.language for each in guess(text)]
    for language in likely:
        if language != to_language and (route := known_route(directions, language, to_language)):
            return Course(route)
    return Course((), "same") if to_language in likely else Course(usual, "language")


def refuse_unknown(directions: Sequence[Direction], from_language: str, to_language: str) -> None:
    """Refuse languages that a model does not have, and a wish that is open where it has several."""
    sources = sorted({way.from_language for way in directions})
    targets = sorted({way.to_language for way in directions})
    if not to_language and len(targets) > 1:
        raise ConfigError(f"to which language? Give one (--to) of: {', '.join(targets)}")
    for wish, known, name in ((from_language, sources, "from"), (to_language, targets, "to")):
        if wish and "" not in known and wish not in known:
            raise ConfigError(
                f"this model does not translate {name} '{wish}'; {near_miss(wish, known)}"
            )


def _fits(wish: str, language: str) -> bool:
    return wish == language or not wish or not language


def _listed(directions: Sequence[Direction]) -> str:
    return ", ".join(map(str, directions))


def grouped(
    items: Sequence[Item],
    *,
    by: Callable[[Item], Key],
    each: Callable[[Key, list[Item]], Iterable[Result]],
) -> list[Result]:
    """Work on items that belong together at once, and return what becomes of all in order."""
    keys = [by(item) for item in items]
    found = {
        key: iter(each(key, [it for it, own in zip(items, keys, strict=True) if own == key]))
        for key in dict.fromkeys(keys)
    }
    return [next(found[key]) for key in keys]
