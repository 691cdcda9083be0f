"""The Transformer of "Attention Is All You Need" to train, look inside and ship.

>>> translator = heedful.load("model/")
>>> print(translator.translate("Good morning!"))

A translator may be used by several threads at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from heedful.decoding.hypothesis import Sampling
    from heedful.errors import (
        ConfigError,
        CorpusError,
        DamagedError,
        ForkError,
        HeedfulError,
        MissingExtraError,
        ModelFolderError,
        StoppedError,
        StorageError,
        TooShortError,
        TrainingError,
    )
    from heedful.evaluation import Score, evaluate
    from heedful.explain.explanation import Explanation, explain
    from heedful.runs.events import (
        Event,
        Examples,
        Finished,
        Lesson,
        Plan,
        Prepared,
        RolledBack,
        Started,
        Validation,
        WentBack,
    )
    from heedful.runs.recipe import Recipe, load_recipe
    from heedful.runs.train import train_model
    from heedful.storage.provenance import Example
    from heedful.training.step import Step
    from heedful.translation.details import Details
    from heedful.translation.options import Options
    from heedful.translation.sentence import Candidate
    from heedful.translation.steering import Alternative
    from heedful.translation.translator import Translation, Translator, load

__version__ = "0.2.0"

__all__ = [
    "Alternative",
    "Candidate",
    "ConfigError",
    "CorpusError",
    "DamagedError",
    "Details",
    "Event",
    "Example",
    "Examples",
    "Explanation",
    "Finished",
    "ForkError",
    "HeedfulError",
    "Lesson",
    "MissingExtraError",
    "ModelFolderError",
    "Options",
    "Plan",
    "Prepared",
    "Recipe",
    "RolledBack",
    "Sampling",
    "Score",
    "Started",
    "Step",
    "StoppedError",
    "StorageError",
    "TooShortError",
    "TrainingError",
    "Translation",
    "Translator",
    "Validation",
    "WentBack",
    "__version__",
    "evaluate",
    "explain",
    "load",
    "load_recipe",
    "train_model",
]

_IN_ROOMS = {
    "decoding.hypothesis": ["Sampling"],
    "evaluation": ["Score", "evaluate"],
    "explain.explanation": ["Explanation"],
    "runs.recipe": ["Recipe", "load_recipe"],
    "runs.train": ["train_model"],
    "storage.provenance": ["Example"],
    "training.step": ["Step"],
    "translation.details": ["Details"],
    "translation.options": ["Options"],
    "translation.sentence": ["Candidate"],
    "translation.steering": ["Alternative"],
    "translation.translator": ["Translation", "Translator", "load"],
}
_HOMES = {name: room for room, names in _IN_ROOMS.items() for name in names}
_OF_TRAINING = ("torch", "jaxtyping", "babel")


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import heedful` stays instant."""
    if name not in __all__:
        raise AttributeError(f"module 'heedful' has no attribute '{name}'")
    if name == "explain":  # a room that is called by its name
        return import_module("heedful.explain")
    home = _HOMES.get(name) or ("errors" if name.endswith("Error") else "runs.events")
    try:
        return getattr(import_module(f"heedful.{home}"), name)
    except ModuleNotFoundError as error:
        if error.name not in _OF_TRAINING:
            raise
        return _not_installed(name, error.name)


def __dir__() -> list[str]:
    return __all__


def _not_installed(name: str, package: str) -> Any:
    """Return what stands for a function, and says what it needs when it is called."""

    def stand_in(*_: object, **__: object) -> NoReturn:
        from heedful.errors import missing_extra

        raise missing_extra(f"heedful.{name}", package)

    stand_in.__name__ = stand_in.__qualname__ = name
    stand_in.__doc__ = f"Not installed: it needs {package}."
    return stand_in
