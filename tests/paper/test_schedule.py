"""Equation 3 as a table."""

import pytest

from heedful.paper import schedule
from heedful.paper.request import Request


def test_the_papers_rate_peaks_at_step_4000_by_the_printed_formula():
    (result,) = schedule.run(Request(name="schedule"))

    d_model, warmup, first, highest, at, last = result.tables[0].rows[0]
    assert (d_model, warmup, at) == (512, 4_000, 4_000)
    assert first == pytest.approx(512**-0.5 * 4_000**-1.5)
    assert highest == pytest.approx(512**-0.5 * 4_000**-0.5)
    assert last == pytest.approx(512**-0.5 * 100_000**-0.5)
    assert [claim.verdict for claim in result.claims] == ["holds", "holds"]


def test_a_longer_warm_up_peaks_lower_and_ends_alike():
    rates = [schedule.rate(100_000, 512, warmup) for warmup in (4_000, 8_000)]

    assert rates[0] == rates[1]
    assert schedule.rate(8_000, 512, 8_000) < schedule.rate(4_000, 512, 4_000)
