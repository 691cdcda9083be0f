"""Looking into a model: its page, its attention, and `heedful.explain(translator, text)`."""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """This package, which is called as well: `heedful.explain` names both it and a function."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Look at how a translator reads and writes one sentence."""
        from heedful.explain.explanation import explain

        return explain(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
