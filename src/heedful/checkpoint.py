"""Weights in a model folder, and the training states they are averaged from."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from heedful.errors import ModelFolderError
from heedful.folder import ModelFolder, settle, write_atomically
from heedful.model.transformer import Transformer


def save_model(folder: ModelFolder, model: Transformer) -> None:
    """Write sizes and weights; safetensors, so that loading them can run no code."""
    write_atomically(folder.config_file, json.dumps(asdict(model.config), indent=2) + "\n")
    _save_tensors(folder.weights_file, model.state_dict(), {"format": "pt"})


def load_model(folder: ModelFolder) -> Transformer:
    """Read a trained network, ready to translate."""
    model = Transformer(folder.config())
    if not folder.weights_file.exists():
        raise ModelFolderError(f"{folder.path} has no {folder.weights_file.name}; copy it again")
    weights = _load_tensors(folder.weights_file)
    expected = {name: tensor.shape for name, tensor in model.state_dict().items()}
    if expected != {name: tensor.shape for name, tensor in weights.items()}:
        raise ModelFolderError(
            f"{folder.weights_file}: the weights do not fit {folder.config_file.name}; "
            "the files come from different models"
        )
    model.load_state_dict(weights)
    return model.eval()


@dataclass(frozen=True)
class Checkpoint:
    """A training state on disk, after the step that its name tells."""

    path: Path

    @property
    def step(self) -> int:
        """The step it was saved after."""
        return int(self.path.stem.removeprefix("step-"))

    def tensors(self) -> dict[str, Tensor]:
        """Read weights and optimiser state."""
        return _load_tensors(self.path)

    def weights(self) -> dict[str, Tensor]:
        """Read the weights of the model alone."""
        with safe_open(self.path, framework="pt") as file:
            return {
                name.removeprefix("model."): file.get_tensor(name)
                for name in file.keys()  # noqa: SIM118 (not a dict)
                if name.startswith("model.")
            }

    def notes(self) -> dict[str, Any]:
        """Read what the run wanted to remember beside the tensors."""
        with safe_open(self.path, framework="pt") as file:
            notes: dict[str, Any] = json.loads(file.metadata()["notes"])
            return notes


class Checkpoints:
    """The training states of one run, of which the last few are kept."""

    def __init__(self, folder: Path, *, keep: int) -> None:
        self.folder = folder
        self.keep = keep

    def __iter__(self) -> Iterator[Checkpoint]:
        return (Checkpoint(path) for path in sorted(self.folder.glob("step-*.safetensors")))

    def latest(self) -> Checkpoint | None:
        """Return the newest checkpoint, if there is any."""
        return max(self, key=lambda checkpoint: checkpoint.step, default=None)

    def save(self, step: int, tensors: dict[str, Tensor], notes: dict[str, Any]) -> None:
        """Write a checkpoint, then let go of those that are too old."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"step-{step:09}.safetensors"
        _save_tensors(path, tensors, {"notes": json.dumps(notes)})
        for old in list(self)[: -self.keep]:
            old.path.unlink()


def _save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    partial = path.with_name(path.name + ".partial")
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, partial, metadata)
    settle(partial, path)


def _load_tensors(path: Path) -> dict[str, Tensor]:
    try:
        with torch.no_grad():
            return load_file(path)
    except (SafetensorError, OSError) as error:
        raise ModelFolderError(f"{path}: damaged weights ({error}); copy it again") from error
