"""Each number of the worked example is what its own printed sum comes to, and some by hand."""

import math
import re

import pytest

from heedful.paper import worked_example
from heedful.paper.request import Request

PARTS = {
    "attention": worked_example.attention,
    "masked": lambda: worked_example.attention(masked=True),
    "multi_head": worked_example.multi_head,
    "layer_norm": worked_example.layer_norm,
    "training_step": worked_example.training_step,
    "decoding": worked_example.decoding,
}


def evaluated(formula: str) -> float:
    """Compute a sum as it is printed."""
    python = formula.replace("·", "*").replace("²", "**2").replace("^", "**")
    python = python.replace("√", "sqrt").replace("ln", "log")
    names = {"sqrt": math.sqrt, "log": math.log, "e": math.e, "min": min}
    return eval(python, {"__builtins__": {}}, names)


@pytest.mark.parametrize("part", PARTS)
def test_every_number_is_what_its_printed_sum_comes_to(part):
    lines = PARTS[part]()

    assert len(lines) > 5
    for line in lines:
        assert evaluated(line.formula) == pytest.approx(line.value, rel=2e-3, abs=2e-4), line


def test_a_sum_that_is_wrong_would_be_seen():
    assert evaluated("1·1 + 2·√(4)") == 5
    assert evaluated("e^(0) / (e^(0) + e^(0))") == 0.5


def values(lines):
    return {line.name: line.value for line in lines}


def test_attention_by_hand():
    found = values(worked_example.attention())

    # q_the = (1, 0) against the keys (1, 1), (0, 2), (2, 0): scores 1, 0, 2.
    weights = [math.exp(score / math.sqrt(2)) for score in (1, 0, 2)]
    assert found["weight of sat for the"] == pytest.approx(weights[2] / sum(weights))
    assert found["output sat[1]"] == pytest.approx(1)  # all scores alike: the mean of 1, 0, 2


def test_the_first_word_sees_itself_alone_when_the_future_is_masked():
    found = values(worked_example.attention(masked=True))

    assert found["weight of the for the"] == 1
    assert not any(name.endswith("cat for the") for name in found)


def test_layer_norm_by_hand():
    found = values(worked_example.layer_norm())

    # (1, 2, 3, 6): mean 3, variance (4 + 1 + 0 + 9) / 4.
    assert (found["mean"], found["variance"]) == (3, 3.5)
    assert found["LayerNorm(x)[4]"] == pytest.approx(3 / math.sqrt(3.5) + 0.5, rel=1e-5)


def test_a_step_of_training_makes_the_wanted_word_likelier():
    found = values(worked_example.training_step())

    assert found["loss after the step"] < found["loss"]
    assert found["E[cat][1] after Adam"] > 0  # it was 0, and the word was wanted


def test_the_beam_finds_what_greedy_search_passes_by():
    found = values(worked_example.decoding())

    best = next(name for name in found if name.startswith("beam of 2, place 1"))
    assert re.search(r"Katzen <eos>", best)
    assert found[best] > found["greedy, step 2: ln P(die Katze)"]


def test_the_command_has_a_table_for_each_part():
    (result,) = worked_example.run(Request(name="worked-example"))

    assert len(result.tables) == len(PARTS)
