"""The folder of results: what is in it is found again, and nothing foreign is written over."""

import json

import pytest

from heedful.errors import ConfigError, ModelFolderError
from heedful.paper.request import Cells, Request, claim_folder, write_tables
from heedful.paper.result import Result, Table


def test_what_was_measured_is_not_measured_again(tmp_path):
    measured = []

    def measure():
        measured.append(1)
        return {"bleu": 12.5}

    for _ in range(2):
        assert Cells(tmp_path).measured("cell", {"steps": 3}, measure) == {"bleu": 12.5}

    assert len(measured) == 1


def test_a_cell_of_other_settings_is_another_cell(tmp_path):
    cells = Cells(tmp_path)
    cells.measured("cell", {"steps": 3}, lambda: {"bleu": 1})

    assert cells.has("cell", {"steps": 3})
    assert not cells.has("cell", {"steps": 4})
    assert cells.measured("cell", {"steps": 4}, lambda: {"bleu": 2}) == {"bleu": 2}


def test_a_damaged_cell_is_measured_again(tmp_path):
    cells = Cells(tmp_path)
    cells.measured("cell", {}, lambda: {"bleu": 1})
    (file,) = (tmp_path / "cells").iterdir()
    file.write_text('{"about": {}, "meas')

    assert cells.measured("cell", {}, lambda: {"bleu": 2}) == {"bleu": 2}
    assert json.loads(file.read_text())["measured"] == {"bleu": 2}


def test_a_folder_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")

    with pytest.raises(ModelFolderError, match="was not made by heedful and is in the way"):
        claim_folder(tmp_path)


def test_a_folder_of_ours_is_gone_on_with(tmp_path):
    claim_folder(tmp_path / "new")
    (tmp_path / "new" / "table1.md").write_text("old")

    claim_folder(tmp_path / "new")

    assert (tmp_path / "new" / "table1.md").exists()


def test_each_table_has_a_file(tmp_path):
    table = Table(title="t", columns=("x",), rows=((1,),))

    files = write_tables(Result(name="n", title="N", tables=(table, table), scale="s"), tmp_path)

    assert [file.name for file in files] == ["n.md", "n.csv", "n-2.csv"]
    assert (tmp_path / "n-2.csv").read_text() == "x\n1\n"


@pytest.mark.parametrize("minutes", [0.0, -1.0, float("nan"), float("inf")])
def test_minutes_that_are_none_are_refused(minutes):
    with pytest.raises(ConfigError, match="--minutes must be a number above 0, got"):
        Request(name="all", minutes=minutes)
