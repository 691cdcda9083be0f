"""The notebooks run, and what they show is kept in them."""

import json
import re

import pytest

from tools import notebooks

PATHS = sorted(notebooks.FOLDER.glob("*.ipynb"))


def texts(outputs) -> list[str]:
    """Return what was written in words, numbers left out: these differ from machine to machine."""
    found = []
    for output in outputs:
        shown = output.get("text") or output["data"].get("text/markdown") or []
        found.append(re.sub(r"[-+]?\d[\d.,]*(e[-+]\d+)?", "#", "".join(shown)))
    return found


def kinds(outputs) -> list[list[str]]:
    return [list(output.get("data", {"stdout": ""})) for output in outputs]


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_kept_in_it(path):
    notebook = json.loads(path.read_text())

    shown = notebooks.run(notebook)

    for cell, outputs in zip(notebooks.code_cells(notebook), shown, strict=True):
        assert kinds(outputs) == kinds(cell["outputs"]), "".join(cell["source"])
        if "translate(" not in "".join(cell["source"]):  # what a model says may differ
            assert texts(outputs) == texts(cell["outputs"])


def test_there_are_five_and_all_have_been_run():
    assert len(PATHS) == 5
    for path in PATHS:
        cells = notebooks.code_cells(json.loads(path.read_text()))
        assert all(cell["execution_count"] for cell in cells), path.name
        assert any(cell["outputs"] for cell in cells)


def test_what_the_last_line_of_a_cell_comes_to_is_shown():
    cell = {"cell_type": "code", "source": ["print('a')\n", "x = 2\n", "x + 1"]}

    ((printed, value),) = notebooks.run({"cells": [cell]})

    assert printed["text"] == ["a\n"]
    assert value["data"] == {"text/plain": ["3"]}
