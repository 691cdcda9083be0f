import io
import re
from functools import partial

import pytest
from rich.console import Console

from heedful.cli.demo import run_demo
from heedful.data import embedded
from heedful.errors import StorageError


@pytest.mark.slow
def test_the_demo_goes_from_nothing_to_a_map_of_attention(tmp_path, monkeypatch):
    """With a small corpus and few steps: what it shows, not how well it does."""
    recipe = tmp_path / "few.toml"
    recipe.write_text(
        "[model]\nnum_layers = 1\nd_model = 16\nd_ff = 16\nnum_heads = 2\n"
        "[training]\nsteps = 4\nwarmup_steps = 2\nvalidate_every = 2\n"
    )
    monkeypatch.setattr("heedful.cli.demo.RECIPE", str(recipe))
    few = partial(embedded.generate, train=300, held_out=20)
    monkeypatch.setattr("heedful.cli.demo.generate", few)
    console = Console(file=io.StringIO(), width=100)

    run_demo(tmp_path / "demo", "de", console)

    text = console.file.getvalue()
    assert "English to 'de'" in text
    assert re.search(r"exact match +\d+\.\d\d +n:20", text)
    assert text.count(" right\n") + text.count(" wrong\n") == 8
    assert "Where it looked: " in text
    assert "</s>" in text
    assert f"heedful translate {tmp_path / 'demo' / 'model'}" in text


def test_the_demo_says_in_a_line_where_it_cannot_write(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(StorageError, match=r"file: cannot be made, File exists"):
        run_demo(tmp_path / "file", "de", Console(file=io.StringIO()))
