"""Table 2: networks of like size, tuned alike, and the paper's cost formula."""

import pytest

from heedful.errors import TooShortError
from heedful.paper import statistics, table2
from heedful.paper.request import Request
from heedful.paper.table3 import base_of
from tests.paper.test_table3 import fake


def parameters(network) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


def test_the_three_networks_have_about_as_many_parameters():
    sizes = [
        parameters(make(2_000))
        for make in table2.networks(base_of("mini"), vocab_size=2_000).values()
    ]

    assert len(sizes) == 3
    assert max(sizes) < 1.15 * min(sizes)


def test_the_printed_costs_come_out_by_the_papers_formula():
    # 12 hours and 3.5 days on 8 GPUs at 9.5 TFLOPS.
    assert table2.training_cost(12.0) == 12 * 3600 * 8 * 9.5e12
    assert f"{table2.training_cost(12.0):.1e}" == "3.3e+18"
    assert f"{table2.training_cost(3.5 * 24):.1e}" == "2.3e+19"


def test_too_few_minutes_say_how_many_are_needed(tmp_path):
    with pytest.raises(TooShortError, match="is too short: it is shared by 3 trainings"):
        list(table2.run(Request(name="table2", minutes=0.5, out=tmp_path)))


def test_each_network_tries_every_rate_and_trains_by_the_best(tmp_path, corpus, monkeypatch):
    calls, rates = [], []

    def measure(make, prepared, config):
        rates.append(config.peak_rate)
        found = fake(calls)(make, prepared, config)
        return found | {"perplexity": abs(config.peak_rate - 3e-3) + 2}

    monkeypatch.setattr(table2, "measure", measure)
    monkeypatch.setattr(statistics, "RESAMPLES", 40)
    request = Request(name="table2", out=tmp_path / "out", minutes=9.0, **corpus)

    *_, result = table2.run(request)
    *_, again = table2.run(request)

    assert rates == [*table2.RATES, 3e-3] * 3
    assert result.tables == again.tables
    assert [row[0] for row in result.tables[0].rows] == [
        "Transformer", "recurrent, LSTM", "convolutional, GLU",
    ]  # fmt: skip
    assert all(row[-1] == 3e-3 for row in result.tables[0].rows)
