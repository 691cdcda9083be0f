"""A model as two ONNX graphs: `encoder.onnx` reads, `decoder_step.onnx` writes the next piece.

What the encoder puts out, the step takes in, under the same names, beside the last ids.
"""

import logging
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.errors import missing_extra
from heedful.model.attention import KeyValue
from heedful.model.transformer import DecoderState, Positions, Transformer
from heedful.specials import BOS, EOS
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder
from heedful.storage.writing import folder_written_whole


@torch.no_grad()
def export_onnx(folder: ModelFolder) -> Path:
    """Write `onnx/` into a model folder, whole or not at all, and return its path."""
    _require_extra()
    model = load_model(folder)
    model.add_module("positions", _ComputedPositions(model.positions))
    # Tracing loads modules, and a signal that comes then ends the program where it is.
    graphs = {"encoder": _trace_encoder(model), "decoder_step": _trace_decoder_step(model)}
    with folder_written_whole(folder.onnx) as partial:
        for name, graph in graphs.items():
            graph.save(partial / f"{name}.onnx")
    return folder.onnx


class _Encoder(nn.Module):
    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, source: Int[Tensor, "rows source"]) -> list[Tensor]:
        state = self.model.encode(source)
        return [state.source_visible, *_flat(state.source), *_flat(state.past)]


class _DecoderStep(nn.Module):
    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        last: Int[Tensor, "rows 1"],
        source_visible: Bool[Tensor, "rows 1 1 source"],
        source: list[Tensor],
        past: list[Tensor],
    ) -> list[Tensor]:
        x, state = self.model.decode(
            last, DecoderState(source_visible, _layers(source), _layers(past))
        )
        return [self.model.logits(x[:, 0]).log_softmax(dim=-1), *_flat(state.past)]


class _ComputedPositions(nn.Module):
    """Positions without a table that grows or a check of its end, which no graph can hold.

    Sinusoids have no end here either; past the last learned vector the runtime refuses to look.
    """

    def __init__(self, positions: Positions) -> None:
        super().__init__()
        self.positions = positions

    def forward(self, start: int, length: int) -> Float[Tensor, "length d_model"]:
        numbers = torch.arange(start, start + length)
        if self.positions.config.positions == "learned":
            return self.positions.learned[numbers]
        return self.positions.sinusoids(numbers)


def _trace_encoder(model: Transformer) -> torch.onnx.ONNXProgram:
    layers = model.config.num_layers
    return _trace(
        _Encoder(model),
        arguments=(torch.full((2, 3), EOS),),
        axes=({0: "rows", 1: "source"},),
        inputs=["source"],
        outputs=["source_visible", *_names("source", layers), *_names("past", layers)],
    )


def _trace_decoder_step(model: Transformer) -> torch.onnx.ONNXProgram:
    layers = model.config.num_layers
    # No two axes are of one size, lest the tracer take them for the same.
    _, state = model.decode(torch.full((2, 4), BOS), model.encode(torch.full((2, 3), EOS)))
    return _trace(
        _DecoderStep(model),
        arguments=(
            torch.full((2, 1), BOS),
            state.source_visible,
            _flat(state.source),
            _flat(state.past),
        ),
        axes=(
            {0: "rows"},
            {0: "rows", 3: "source"},
            [{0: "rows", 2: "source"}] * 2 * layers,
            [{0: "rows", 2: "past"}] * 2 * layers,
        ),
        inputs=["last", "source_visible", *_names("source", layers), *_names("past", layers)],
        outputs=["log_probabilities", *_names("grown", layers)],
    )


def _trace(
    module: nn.Module,
    *,
    arguments: tuple[Any, ...],
    axes: tuple[Any, ...],
    inputs: list[str],
    outputs: list[str],
) -> torch.onnx.ONNXProgram:
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass

    with _quiet():
        program = torch.onnx.export(
            module.eval(),
            arguments,
            dynamic_shapes=axes,
            input_names=inputs,
            output_names=outputs,
            verbose=False,
        )
    assert program is not None
    ClearMetadataAndDocStringPass()(program.model)  # stack traces, with the paths of this machine
    return program


@contextmanager
def _quiet() -> Iterator[None]:
    """Hush the exporter's words about its own code, torchvision and axes that share a name."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logging.disable(logging.NOTSET)


def _flat(layers: Iterable[KeyValue]) -> list[Tensor]:
    return list(chain.from_iterable((layer.key, layer.value) for layer in layers))


def _layers(tensors: Sequence[Tensor]) -> tuple[KeyValue, ...]:
    return tuple(
        KeyValue(key, value) for key, value in zip(tensors[::2], tensors[1::2], strict=True)
    )


def _names(whose: str, num_layers: int) -> list[str]:
    return [f"{whose}_{part}_{layer}" for layer in range(num_layers) for part in ("key", "value")]


def _require_extra() -> None:
    for name in ("onnx", "onnxscript"):
        if find_spec(name) is None:
            raise missing_extra("export to ONNX", name, "train,onnx")
