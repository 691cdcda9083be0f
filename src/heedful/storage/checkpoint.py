"""Weights in a model folder, and the training states they are averaged from."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor

from heedful.errors import DamagedError, ModelFolderError, StorageError
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.storage.folder import ModelFolder
from heedful.storage.outputs import PARTIAL, is_plain_file, not_ours
from heedful.storage.writing import make_folder, write_atomically

_NAME = re.compile(r"(step-[0-9]{9,}|interrupted)\.safetensors")
# The size of the header, and how it begins; or nothing, of one who was killed.
_OURS = re.compile(rb'.{8}\{"__metadata__":\{"(checksum|notes)":"|\Z', re.DOTALL)
_HEAD = 40  # bytes, more than that takes


def save_model(folder: ModelFolder, model: Transformer) -> None:
    """Write sizes and weights; safetensors, so that loading them can run no code."""
    folder.checksums_file.unlink(missing_ok=True)  # of what went with other weights
    write_atomically(folder.config_file, json.dumps(asdict(model.config), indent=2) + "\n")
    _save_tensors(folder.weights_file, model.state_dict(), {"format": "pt"})


def save_rounded(folder: ModelFolder, model: Transformer) -> None:
    """Write the weights of a model with half of the bytes."""
    halves = {name: tensor.half() for name, tensor in model.state_dict().items()}
    _save_tensors(folder.weights_file, halves, {"format": "pt"})


def load_model(folder: ModelFolder) -> Transformer:
    """Read a trained network, ready to translate."""
    config = folder.config()
    if not folder.weights_file.is_file():
        raise ModelFolderError(
            f"{folder.path} has no {folder.weights_file.name}; copy it again, or, if it was "
            "packed, pack it --with-weights"
        )
    if _shapes(config) != _saved_shapes(folder.weights_file):  # before any memory is asked for
        raise ModelFolderError(
            f"{folder.weights_file}: the weights do not fit {folder.config_file.name}; "
            "the files come from different models"
        )
    model = Transformer(config)
    model.load_state_dict(_load_tensors(folder.weights_file))
    return model.eval()


def _shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    with torch.device("meta"):  # on which nothing takes room
        weights = Transformer(config).state_dict()
    return {name: tuple(tensor.shape) for name, tensor in weights.items()}


def _saved_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    try:
        with safe_open(path, framework="pt") as file:
            names = file.keys()  # not a dict
            return {name: tuple(file.get_slice(name).get_shape()) for name in names}
    except (SafetensorError, OSError) as error:
        raise _damaged_weights(path, error) from error


@dataclass(frozen=True, kw_only=True)
class TrainingState:
    """All that a run needs to go on after a step."""

    step: int
    tensors: dict[str, Tensor]
    """Weights and optimiser state."""
    notes: dict[str, Any]
    """What the run wants to remember beside the tensors."""

    def weights(self) -> dict[str, Tensor]:
        """Return the weights of the model alone."""
        return {
            name.removeprefix("model."): tensor
            for name, tensor in self.tensors.items()
            if name.startswith("model.")
        }


@dataclass(frozen=True)
class Checkpoint:
    """A training state on disk."""

    path: Path

    @property
    def step(self) -> int:
        """The step after which it was saved, as its name tells."""
        return int(self.path.stem.removeprefix("step-"))

    def read(self) -> TrainingState:
        """Read the state, and refuse it if anything is not as it was saved."""
        try:
            with safe_open(self.path, framework="pt") as file:
                metadata = file.metadata() or {}
                names = file.keys()  # not a dict
                tensors = {name: file.get_tensor(name) for name in names}
        except SafetensorError as error:
            raise DamagedError(f"{self.path.name} is damaged ({error})") from error
        except OSError as error:
            if not self.path.exists():
                raise DamagedError(f"{self.path.name} is missing") from error
            raise _unreadable_now(self.path, error) from error
        if metadata.get("checksum") != _checksum(metadata.get("notes", ""), tensors):
            raise DamagedError(f"{self.path.name} is damaged (checksum differs)")
        notes = json.loads(metadata["notes"])
        return TrainingState(step=notes.pop("step"), tensors=tensors, notes=notes)

    def write(self, state: TrainingState) -> None:
        """Write the state with a checksum of all of it."""
        notes = json.dumps({"step": state.step, **state.notes})
        metadata = {"notes": notes, "checksum": _checksum(notes, state.tensors)}
        _save_tensors(self.path, state.tensors, metadata)


class Checkpoints:
    """The training states of one run: the last few that were validated, and an interrupted one.

    An interrupted state is where to go on, but is no part of the mean that becomes the model:
    whether and where a run was interrupted must not show in its weights.
    """

    def __init__(self, folder: Path, *, keep: int) -> None:
        self.folder = folder
        self.keep = keep
        self._interrupted = Checkpoint(folder / "interrupted.safetensors")

    def __iter__(self) -> Iterator[Checkpoint]:
        paths = sorted(self.folder.glob("step-*.safetensors"))
        return (Checkpoint(path) for path in paths if _NAME.fullmatch(path.name))

    def at(self, step: int) -> Checkpoint:
        """Return the place of the state that is validated after a step."""
        return Checkpoint(self.folder / f"step-{step:09}.safetensors")

    def newest(self) -> tuple[TrainingState | None, list[str]]:
        """Find the newest state that is whole; remove what is damaged, and tell of it."""
        self._refuse_foreign()
        for leftover in self._leftovers():
            leftover.unlink()
        damaged: list[str] = []
        for checkpoint in reversed([*self, *self._interruption()]):
            try:
                return checkpoint.read(), damaged
            except DamagedError as error:
                damaged.append(str(error))
                checkpoint.path.unlink()
        return None, damaged

    def save(self, state: TrainingState) -> None:
        """Write a validated state, then let go of those that are too old."""
        self._write(self.at(state.step), state)
        self._interrupted.path.unlink(missing_ok=True)
        for old in list(self)[: -self.keep]:
            old.path.unlink()

    def save_interrupted(self, state: TrainingState) -> None:
        """Write a state to go on from, until the next validated one takes its place."""
        self._write(self._interrupted, state)

    def drop_after(self, step: int) -> None:
        """Remove what was saved after a step, the newest first, to train it anew."""
        later = [checkpoint for checkpoint in self if checkpoint.step > step]
        for checkpoint in reversed([*later, *self._interruption()]):
            checkpoint.path.unlink()

    def _refuse_foreign(self) -> None:
        """Refuse files that are called as ours are, and are not."""
        saved = [checkpoint.path for checkpoint in (*self, *self._interruption())]
        for path in (*saved, *self._leftovers()):
            if not is_plain_file(path) or not _OURS.match(_head(path)):
                raise not_ours(path)

    def _leftovers(self) -> list[Path]:
        """What one who was killed had not written whole."""
        paths = self.folder.glob(f"*{PARTIAL}")
        return [path for path in paths if _NAME.fullmatch(path.name.removesuffix(PARTIAL))]

    def _interruption(self) -> list[Checkpoint]:
        return [self._interrupted] if self._interrupted.path.exists() else []

    def _write(self, checkpoint: Checkpoint, state: TrainingState) -> None:
        try:
            make_folder(self.folder)
            checkpoint.write(state)
        except StorageError as error:
            saved, _ = self.newest()
            where = f"after step {saved.step}" if saved else "from the beginning"
            raise StorageError(f"{error} {where}") from error


def _checksum(notes: str, tensors: dict[str, Tensor]) -> str:
    """Digest names, types, shapes and values, whatever their order."""
    digest = hashlib.blake2b(notes.encode(), digest_size=32)
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    # Not `save_file`: when killed it leaves files behind whose names cannot be foreseen.
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    write_atomically(path, save(contiguous, metadata))


def _load_tensors(path: Path) -> dict[str, Tensor]:
    try:
        with torch.no_grad():
            return load_file(path)
    except (SafetensorError, OSError) as error:
        raise _damaged_weights(path, error) from error


def _damaged_weights(path: Path, error: Exception) -> ModelFolderError:
    return ModelFolderError(f"{path}: damaged weights ({error}); copy it again")


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise _unreadable_now(path, error) from error


def _unreadable_now(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path}: cannot be read now ({error}); run the same command again when it can"
    )
