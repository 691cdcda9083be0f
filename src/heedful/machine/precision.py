"""Matrix products in bfloat16, on GPUs that have it; not in the paper."""

import torch

from heedful.errors import ConfigError


def refuse_missing(precision: str, device: torch.device) -> None:
    """Refuse bfloat16 where there is none; of CPUs even those that list it may not run it."""
    has_bfloat16 = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    if precision == "bfloat16" and not has_bfloat16:
        raise ConfigError(
            f'precision = "bfloat16" needs a GPU that has it, and this device is a {device.type}; '
            'choose "float32"'
        )


def products_in(precision: str, device: torch.device) -> torch.autocast:
    """Compute products inside a block in this precision; weights and sums stay in float32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16")
