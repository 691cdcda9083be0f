"""Everything we raise on purpose.

HeedfulError
├── ConfigError       a recipe, an option or a size that cannot work
├── CorpusError       files that are not a parallel corpus
├── ModelFolderError  a folder that holds no model, or a damaged one
└── MissingExtraError a part of heedful that was not installed
"""

from collections.abc import Iterable
from difflib import get_close_matches


class HeedfulError(Exception):
    """The base: the command line prints it as one line and leaves with `exit_code`."""

    exit_code = 2


class ConfigError(HeedfulError):
    """A recipe, an option or a size that cannot work."""


class CorpusError(HeedfulError):
    """Files that are not a parallel corpus."""


class ModelFolderError(HeedfulError):
    """A folder that holds no model, or a damaged one."""


class MissingExtraError(HeedfulError):
    """A part of heedful that was not installed."""


def near_miss(name: str, known: Iterable[str]) -> str:
    """Suggest the closest known name, or list them all."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    return f"did you mean '{near[0]}'?" if near else f"known names: {', '.join(names)}"


def refuse_other(name: str, value: str, allowed: Iterable[str]) -> None:
    """Refuse a value that is none of those allowed."""
    if value not in allowed:
        choices = ", ".join(f"'{choice}'" for choice in allowed)
        raise ConfigError(f"{name} must be one of {choices}, got '{value}'")
