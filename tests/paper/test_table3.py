"""Table 3: the printed parameters, rows as recipes, cells that are measured once."""

import pytest

from heedful.errors import ConfigError, TooShortError
from heedful.model.config import ModelConfig
from heedful.paper import statistics, table3
from heedful.paper.request import Request
from tests.test_paper import TABLE_3

BY_NAME = {row.name: row for row in table3.ROWS}
PRINTED = [row for row in table3.ROWS if row.millions and row.name != "big"]


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: row.name)
def test_the_parameters_at_full_size_are_the_printed_millions(row):
    assert round(table3.full_size_parameters(row) / 1e6) == row.millions


def test_all_ten_are_there_and_the_big_one_is_said_not_to_fit():
    assert len(PRINTED) == 10
    assert sorted(row.millions for row in PRINTED) == sorted(it for _, it in TABLE_3.values())
    assert round(table3.full_size_parameters(BY_NAME["big"]) / 1e6, 1) == 218.3


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("A h=1", {"num_heads": 1, "d_k": 512, "d_v": 512}),
        ("A h=32", {"num_heads": 32, "d_k": 16, "d_v": 16}),
        ("B d_k/4", {"d_k": 16, "d_v": 64}),
        ("C N/3", {"num_layers": 2}),
        ("C N·4/3", {"num_layers": 8}),
        ("C d/2", {"d_model": 256, "d_k": 32, "d_v": 32}),
        ("C d·2", {"d_model": 1024, "d_k": 128, "d_v": 128}),
        ("C ff·2", {"d_ff": 4096}),
        ("D drop 0", {"dropout": 0.0}),
        ("E learned", {"positions": "learned"}),
        (
            "big",
            {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "d_k": 64, "d_v": 64, "dropout": 0.3},
        ),
    ],
)
def test_a_row_relative_to_the_papers_base_is_the_printed_row(name, changes):
    row = BY_NAME[name]

    assert row.model(9, ModelConfig(vocab_size=9)) == ModelConfig(vocab_size=9, **changes)


def test_the_same_rows_are_relative_to_any_base():
    base = table3.base_of("tiny")  # 4 layers of width 128 with 4 heads

    assert BY_NAME["C N/3"].model(9, base).num_layers == 1
    assert BY_NAME["A h=1"].model(9, base).d_k == 8 * 32
    assert BY_NAME["C d·2"].model(9, base).d_model == 256


def test_rows_that_come_to_the_same_at_a_size_are_trained_once():
    names = [row.name for row in table3.trained_rows("mini")]  # a third and two thirds of 2 layers

    assert "C N/3" in names
    assert "C N·2/3" not in names
    assert len(table3.trained_rows("base")) == len(table3.ROWS)


def test_an_unknown_size_is_told(tmp_path):
    with pytest.raises(ConfigError, match="unknown --size 'minni'; did you mean 'mini'"):
        list(table3.run(Request(name="table3", size="minni", out=tmp_path)))


def test_too_few_minutes_say_how_many_are_needed(tmp_path):
    with pytest.raises(
        TooShortError,
        match=r"minutes = 1 is too short: it is shared by 19 trainings; give at least 1\.9",
    ):
        list(table3.run(Request(name="table3", minutes=1.0, out=tmp_path)))


def fake(calls):
    def measure(make, corpus, config):
        calls.append(make(300).config)
        return {
            "perplexity": 4.0, "bleu": 20.0, "steps": 7, "seconds": 1.0, "flops": 1e9,
            "pieces_per_second": 1.0, "parameters": 1_000,
            "translations": [target for _, target in corpus.valid_pairs()[:5]],
        }  # fmt: skip

    return measure


@pytest.mark.slow
def test_a_row_for_each_variation_and_no_cell_measured_twice(tmp_path, corpus, monkeypatch):
    calls = []
    monkeypatch.setattr(table3, "measure", fake(calls))
    monkeypatch.setattr(statistics, "RESAMPLES", 40)
    request = Request(name="table3", out=tmp_path / "out", minutes=5.0, **corpus)

    *_, result = table3.run(request)
    *_, again = table3.run(request)

    assert len(calls) == len(table3.trained_rows("mini"))
    assert result.tables == again.tables
    table = result.tables[0]
    assert table.rows[0][:5] == ("base", 4.92, 4.0, 25.8, 20.0)
    assert [row[0] for row in table.rows] == [row.name for row in table3.trained_rows("mini")]


@pytest.mark.slow
def test_rows_that_have_learned_nothing_yet_are_not_compared(tmp_path, corpus, monkeypatch):
    calls = []
    monkeypatch.setattr(table3, "measure", lambda *given: fake(calls)(*given) | {"bleu": 0.3})
    monkeypatch.setattr(statistics, "RESAMPLES", 40)

    *_, result = table3.run(Request(name="table3", out=tmp_path / "out", minutes=5.0, **corpus))

    assert [claim.verdict for claim in result.claims][2:] == ["cannot be tested here"]
    assert "BLEU of base is 0.3" in result.claims[-1].measured
