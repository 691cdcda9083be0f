import pytest
import torch

from heedful.errors import ConfigError
from heedful.machine.precision import products_in, refuse_missing

CPU = torch.device("cpu")


def test_a_precision_that_a_device_lacks_is_refused_with_another():
    refuse_missing("float32", CPU)
    with pytest.raises(ConfigError, match=r'this device is a cpu; choose "float32"$'):
        refuse_missing("bfloat16", CPU)


@pytest.mark.parametrize(
    ("precision", "dtype"), [("float32", torch.float32), ("bfloat16", torch.bfloat16)]
)
def test_products_are_computed_as_asked_and_sums_stay_as_they_are(precision, dtype):
    ones = torch.ones(2, 2)

    with products_in(precision, CPU):
        assert (ones @ ones).dtype == dtype
        assert (ones + ones).dtype == torch.float32
