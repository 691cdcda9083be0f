"""The models that come with the program, and which model a command means."""

import os
from collections.abc import Sequence
from pathlib import Path

from heedful.errors import ModelFolderError
from heedful.storage.folder import ModelFolder

USUAL = "everyday"
MODELS = Path(__file__).parent.parent / "models"


def shipped_models() -> dict[str, ModelFolder]:
    """Return the models that come with the program, by name."""
    folders = map(ModelFolder, sorted(MODELS.iterdir())) if MODELS.is_dir() else ()
    return {folder.path.name: folder for folder in folders if folder.is_finished}


def model_path(wish: str | Path | None = None) -> Path:
    """Return where a model lies: a folder, one that comes with the program by its name, or that."""
    if wish is not None and (os.path.exists(wish) or str(wish) not in shipped_models()):
        return Path(wish)
    name = str(wish or USUAL)
    try:
        return shipped_models()[name].path
    except KeyError:
        raise ModelFolderError(
            "no model comes with this copy of heedful; name a model folder, or make one with: "
            "heedful demo"
        ) from None


def model_and_texts(words: Sequence[str]) -> tuple[Path, list[str]]:
    """Take apart what is given without options: a model if the first names one, and texts."""
    first, *rest = words or [""]
    is_there = first in shipped_models() or (bool(first) and os.path.lexists(first))
    if is_there or _looks_like_path(first) or (rest and not any(map(str.isspace, first))):
        return model_path(first), rest
    return model_path(), list(words)


def _looks_like_path(word: str) -> bool:
    return word.endswith(os.sep) or (os.sep in word and os.path.isdir(os.path.dirname(word)))
