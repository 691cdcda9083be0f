"""The names there are, and what is refused."""

from importlib import import_module
from pathlib import Path

import pytest

from heedful.errors import ConfigError
from heedful.paper.catalogue import ENTRIES, run
from heedful.paper.request import Request


@pytest.mark.parametrize("name", ENTRIES)
def test_every_name_has_a_module_that_can_run(name):
    assert callable(import_module(f"heedful.paper.{ENTRIES[name].module}").run)


def test_a_name_that_is_nearly_one_is_told(tmp_path):
    with pytest.raises(
        ConfigError, match="'positons' is no table or figure; did you mean 'positions'"
    ):
        list(run(Request(name="positons", out=tmp_path)))


def test_what_a_name_does_not_take_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="schedule takes no --model; leave it out"):
        list(run(Request(name="schedule", out=tmp_path, model=Path("m"))))

    assert not any(tmp_path.iterdir())
