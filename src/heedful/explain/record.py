"""Recording where each head looks."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor

from heedful.model.attention import Attend, MultiHeadAttention, exact_attention
from heedful.model.transformer import Transformer


@contextmanager
def record_attention(model: Transformer) -> Iterator[dict[str, list[Tensor]]]:
    """Collect the weights of every attention, by module name, one entry per call.

    The model computes equation 1 step by step meanwhile, so it is slower; the results are
    the same. Not for two threads at once: the recording lives on the model.
    """
    maps: dict[str, list[Tensor]] = {}
    modules = {n: m for n, m in model.named_modules() if isinstance(m, MultiHeadAttention)}
    originals = {name: module.attend for name, module in modules.items()}

    def recorder(name: str) -> Attend:
        def attend(query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
            output, weights = exact_attention(query, key, value, visible)
            maps.setdefault(name, []).append(weights.detach())
            return output

        return attend

    for name, module in modules.items():
        module.attend = recorder(name)
    try:
        yield maps
    finally:
        for name, module in modules.items():
            module.attend = originals[name]
