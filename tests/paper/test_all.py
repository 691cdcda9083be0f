"""The report of everything: what it takes, and that it goes through all names."""

from pathlib import Path

import pytest

from heedful.errors import TooShortError
from heedful.paper import all as everything
from heedful.paper.catalogue import ENTRIES, run
from heedful.paper.request import Request
from heedful.paper.result import Result, claim


def test_too_few_minutes_say_how_many_would_do_and_that_many_do(tmp_path):
    request = Request(name="all", out=tmp_path)

    with pytest.raises(
        TooShortError, match=r"minutes = 1 is too short: .*; give at least"
    ) as error:
        everything.shared_out(request, 1.0)

    shares = everything.shared_out(request, error.value.needed + 0.01)
    assert set(shares) == {"model", "table2", "table3", "smoothing"}
    assert sum(shares.values()) < error.value.needed


def test_a_refused_report_leaves_no_folder_behind(tmp_path):
    with pytest.raises(TooShortError):
        list(run(Request(name="all", out=tmp_path / "out", minutes=1.0)))

    assert not (tmp_path / "out").exists()


def test_with_a_model_and_trees_the_minutes_go_elsewhere(tmp_path):
    request = Request(name="all", out=tmp_path, model=Path("m"), trees=Path("t"))

    assert set(everything.shared_out(request, 30.0)) == {"table2", "table3", "smoothing", "table4"}


def test_every_name_is_in_the_report_with_what_it_takes(tmp_path, monkeypatch):
    asked = {}

    def run_one(request):
        asked[request.name] = request
        yield "at work"
        yield Result(
            name=request.name, title=request.name, tables=(), scale="s",
            claims=(claim(f"Claim of {request.name}", "section 1", holds=True),),
        )  # fmt: skip

    monkeypatch.setattr(everything, "run_one", run_one)
    request = Request(
        name="all", out=tmp_path, model=Path("m"), trees=Path("t"), minutes=30.0, source="a.tsv"
    )

    *_, summary = everything.run(request)

    assert list(asked) == [name for name in ENTRIES if name != "all"]
    assert asked["figure3"].model == Path("m")
    assert asked["positions"].model is None
    assert asked["table3"].source == "a.tsv"
    assert asked["table3"].minutes > asked["table4"].minutes
    html = (tmp_path / "report.html").read_text()
    assert all(f"Claim of {name}" in html for name in asked)
    assert summary.tables[0].title == (
        f"Of {len(asked)} claims {len(asked)} hold, 0 do not hold at this scale, "
        "0 cannot be tested here"
    )
