"""Everything we raise on purpose.

HeedfulError
├── ConfigError       a recipe, an option or a size that cannot work
│   └── TooShortError minutes that do not suffice
├── CorpusError       files that are not a parallel corpus
├── ModelFolderError  a folder that holds no model, or a damaged one
│   └── DamagedError  a checkpoint that is not what was saved
├── StorageError      a disk that is full or cannot be written
├── TrainingError     a run that cannot go on: no memory, or a loss that will not fall
├── StoppedError      a run that was asked to stop, and did
├── ForkError         a model used in a fork of the process that loaded it
└── MissingExtraError a part of heedful that was not installed
"""

import math
from collections.abc import Iterable


class HeedfulError(Exception):
    """The base: the command line prints it as one line and leaves with `exit_code`."""

    exit_code = 2


class ConfigError(HeedfulError):
    """A recipe, an option or a size that cannot work."""


class TooShortError(ConfigError):
    """Minutes that do not suffice, and how many would."""

    def __init__(self, minutes: float, *, needed: float, why: str) -> None:
        enough = math.ceil(10 * needed) / 10
        super().__init__(f"minutes = {minutes:g} is too short: {why}; give at least {enough:g}")
        self.needed, self.why = needed, why


class CorpusError(HeedfulError):
    """Files that are not a parallel corpus."""


class ModelFolderError(HeedfulError):
    """A folder that holds no model, or a damaged one."""


class DamagedError(ModelFolderError):
    """A checkpoint that is not what was saved."""


class StorageError(HeedfulError):
    """A disk that is full or cannot be written."""


class TrainingError(HeedfulError):
    """A run that cannot go on: no memory, or a loss that will not fall."""


class StoppedError(HeedfulError):
    """A run that was asked to stop, and did; the exit code tells by which signal."""

    exit_code = 130


class ForkError(HeedfulError):
    """A model used in a fork of the process that loaded it."""


class MissingExtraError(HeedfulError):
    """A part of heedful that was not installed."""


def missing_extra(what: str, package: str | None, extras: str = "train") -> MissingExtraError:
    """Say what to install, for whoever took heedful as a package and who cloned it."""
    return MissingExtraError(
        f"{what} needs {package}; install it: pip install 'heedful[{extras}]', "
        "or in a clone of the repository: make setup"
    )


def printable(text: str) -> str:
    """Spell out what a terminal would obey or not show, such as escapes and line ends."""
    return "".join(
        it if it.isprintable() else it.encode("unicode_escape").decode("ascii") for it in text
    )


def near_miss(name: str, known: Iterable[str]) -> str:
    """Suggest the closest known name, or list them all."""
    from difflib import get_close_matches  # seldom needed

    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known names: {', '.join(names)}"


def refuse_other_type(name: str, value: object, *kinds: type | None) -> None:
    """Refuse a value of none of these types; a whole number is a number too, and a bool is not."""
    allowed = tuple(type(None) if kind is None else kind for kind in kinds)
    accepted = (*allowed, int) if float in allowed else allowed
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in allowed):
        names = " or ".join("None" if kind is None else kind.__name__ for kind in kinds)
        raise ConfigError(f"{name} must be {names}, got {value!r:.60}")


def refuse_other(name: str, value: str, allowed: Iterable[str]) -> None:
    """Refuse a value that is none of those allowed."""
    if value not in allowed:
        choices = ", ".join(f"'{choice}'" for choice in allowed)
        raise ConfigError(f"{name} must be one of {choices}, got '{value}'")
