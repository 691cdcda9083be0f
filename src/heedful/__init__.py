"""The Transformer of "Attention Is All You Need" to train, look inside and ship.

>>> translator = heedful.load("model/")
>>> print(translator.translate("Good morning!"))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heedful.decoding.hypothesis import Sampling
    from heedful.errors import HeedfulError
    from heedful.evaluation import Score, evaluate
    from heedful.runs.recipe import Recipe, load_recipe
    from heedful.runs.train import train_model
    from heedful.translation.details import Details
    from heedful.translation.translator import Translation, Translator, load

__version__ = "0.2.0"

__all__ = [
    "Details",
    "HeedfulError",
    "Recipe",
    "Sampling",
    "Score",
    "Translation",
    "Translator",
    "__version__",
    "evaluate",
    "load",
    "load_recipe",
    "train_model",
]

_HOMES = {
    "Details": "heedful.translation.details",
    "HeedfulError": "heedful.errors",
    "Recipe": "heedful.runs.recipe",
    "Sampling": "heedful.decoding.hypothesis",
    "Score": "heedful.evaluation",
    "Translation": "heedful.translation.translator",
    "Translator": "heedful.translation.translator",
    "evaluate": "heedful.evaluation",
    "load": "heedful.translation.translator",
    "load_recipe": "heedful.runs.recipe",
    "train_model": "heedful.runs.train",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import heedful` stays instant."""
    if name not in _HOMES:
        raise AttributeError(f"module 'heedful' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
