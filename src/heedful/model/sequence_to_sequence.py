"""What training and search ask of a network: the Transformer's methods, whoever has them."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class Sizes(Protocol):
    """What a trainer asks of a config."""

    @property
    def d_model(self) -> int:
        """Width of what `decode` returns."""

    @property
    def vocab_size(self) -> int:
        """Pieces in the vocabulary."""


@runtime_checkable
class SequenceToSequence(Protocol):
    """An `nn.Module` that reads a source once, and scores what may come next in a target."""

    @property
    def config(self) -> Sizes:
        """Its sizes."""

    @property
    def output_matrix(self) -> Tensor:
        """A row for each piece, by which `logits` scores it."""

    def encode(self, source: Tensor) -> Any:
        """Read the source; the state has `select(rows)`."""

    def decode(self, target: Tensor, state: Any) -> tuple[Tensor, Any]:
        """Write `target` after the state; return a vector for each of its positions."""

    def logits(self, x: Tensor) -> Tensor:
        """Score every piece."""

    def train(self, mode: bool = True) -> Any:
        """Turn dropout on."""

    def eval(self) -> Any:
        """Turn dropout off."""

    def modules(self) -> Iterator[nn.Module]:
        """Yield all parts."""

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]:
        """Yield what is learned."""

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Yield what is learned, by name."""

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""

    def state_dict(self) -> dict[str, Any]:
        """Return all weights by name."""

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> Any:
        """Take weights by name."""
