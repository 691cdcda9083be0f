import pytest

from heedful.errors import ConfigError
from heedful.server.limits import Limits


def test_a_limit_below_what_can_be_is_refused():
    with pytest.raises(ConfigError, match="--waiting must be 1 or more, got 0"):
        Limits(waiting=0)
    with pytest.raises(ConfigError, match="--cache must be 0 or more, got -1"):
        Limits(cache=-1)
    assert Limits(cache=0).cache == 0
