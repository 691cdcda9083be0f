"""The weights of a model as its page carries them: whole numbers, and a scale for each row."""

import operator
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from heedful.errors import ModelFolderError
from heedful.model.config import ModelConfig
from heedful.storage.folder import ModelFolder

_FEWEST, _MOST = 8, 16  # bits of a weight
_PER_WEIGHT = 1.4  # bytes of the page that a weight may take,
_GRANTED = 1_100_000  # and what all of them may take besides (decision 36)
_BASE64 = 4 / 3
_SMALLEST = 1e-30  # scale, of a row of zeros


class Place(NamedTuple):
    """Where a tensor lies, and how it is written."""

    name: str
    rows: int
    width: int
    bits: int
    """Of each number."""
    start: int
    """In bytes: first a scale of each row, in float32; then the numbers, one bit after another."""


def pack_weights(folder: ModelFolder, config: ModelConfig) -> tuple[list[Place], bytes]:
    """Read the weights without torch, and write them one after another."""
    shapes = weight_shapes(config)
    bits = bits_of_weights(shapes.values())
    places: list[Place] = []
    packed = bytearray()
    for name, tensor in read_weights(folder, config).items():
        is_vector = shapes[name][0] == 1
        place = Place(name, *shapes[name], _MOST if is_vector else bits, start=len(packed))
        places.append(place)
        packed += _rounded(tensor, place.bits)
        packed += b"\0" * (-len(packed) % 4)
    return places, bytes(packed)


def bits_of_weights(shapes: Iterable[tuple[int, int]]) -> int:
    """Choose the finest rounding that keeps the page small."""
    rows, widths = zip(*shapes, strict=True)
    num_weights = sum(map(operator.mul, rows, widths))
    room = _GRANTED + _PER_WEIGHT * num_weights - _BASE64 * 4 * sum(rows)
    return int(min(max(room / _BASE64 * 8 / num_weights, _FEWEST), _MOST))


def weight_shapes(config: ModelConfig) -> dict[str, tuple[int, int]]:
    """Return the rows and columns of every tensor of a model; a vector is one row."""
    inner, d_model = (config.num_heads * config.d_k, config.num_heads * config.d_v), config.d_model
    attention = {"query": inner[0], "key": inner[0], "value": inner[1]}
    shapes = {"embedding.weight": (config.vocab_size, d_model)}
    if config.positions == "learned":
        shapes["positions.learned"] = (config.max_length, d_model)
    for stack, kinds in (("encoder", ["self"]), ("decoder", ["self", "source"])):
        for layer in range(config.num_layers):
            path = f"{stack}.{layer}"
            for kind in kinds:
                for name, width in attention.items():
                    shapes |= _linear(f"{path}.{kind}_attention.{name}", width, d_model)
                shapes |= _linear(f"{path}.{kind}_attention.output", d_model, inner[1])
                shapes |= _norm(f"{path}.around_{kind}_attention.norm", d_model)
            shapes |= _linear(f"{path}.feed_forward.0", config.d_ff, d_model)
            shapes |= _linear(f"{path}.feed_forward.2", d_model, config.d_ff)
            shapes |= _norm(f"{path}.around_feed_forward.norm", d_model)
    if config.normalisation == "pre":
        shapes |= _norm("encoder_norm", d_model) | _norm("decoder_norm", d_model)
    return shapes


def _linear(name: str, rows: int, width: int) -> dict[str, tuple[int, int]]:
    return {f"{name}.weight": (rows, width), f"{name}.bias": (1, rows)}


def _norm(name: str, width: int) -> dict[str, tuple[int, int]]:
    return {f"{name}.weight": (1, width), f"{name}.bias": (1, width)}


def read_weights(folder: ModelFolder, config: ModelConfig) -> dict[str, NDArray[np.float32]]:
    """Read all tensors without torch, if they are those of such a model; a vector is one row."""
    path, shapes = folder.weights_file, weight_shapes(config)
    if not path.is_file():
        raise ModelFolderError(f"{folder.path} has no {path.name}; copy it again")
    try:
        with safe_open(path, framework="numpy") as file:
            saved = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
            if {name: (1, *shape)[-2:] for name, shape in saved.items()} != shapes:
                raise ModelFolderError(
                    f"{path}: the weights do not fit {folder.config_file.name}; "
                    "the files come from different models"
                )
            read = {name: file.get_tensor(name).astype(np.float32) for name in shapes}
    except (SafetensorError, OSError, TypeError) as error:
        raise ModelFolderError(f"{path}: damaged ({error}); copy it again") from error
    for name, tensor in read.items():
        if not np.isfinite(tensor).all():
            raise ModelFolderError(f"{path}: {name} has weights that are no numbers; copy it again")
    return {name: tensor.reshape(shapes[name]) for name, tensor in read.items()}


def _rounded(tensor: NDArray[np.float32], bits: int) -> bytes:
    """Round each row to whole numbers that its scale brings back to size, none of them negative."""
    half = 1 << (bits - 1)
    scales = np.maximum(np.abs(tensor).max(axis=1, keepdims=True) / (half - 1), _SMALLEST)
    whole = (np.rint(tensor / scales) + half).astype(">u2")
    spelt = np.unpackbits(whole.reshape(-1, 1).view(np.uint8), axis=1)[:, -bits:]
    return bytes(scales.astype("<f4").tobytes() + np.packbits(spelt).tobytes())
