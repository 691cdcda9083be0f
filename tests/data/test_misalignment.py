import random

import pytest

from heedful.data.misalignment import find_misalignment
from heedful.data.pair_ids import PairIds, write_pair_ids

VOCAB = 120


@pytest.fixture
def lines() -> list[tuple[list[int], list[int]]]:
    """Sources of ids below 60, and targets that say the same with 60 added, backwards."""
    draw = random.Random(1)
    sources = [draw.choices(range(4, 60), k=draw.randint(3, 9)) for _ in range(2_400)]
    return [(source, [id + 60 for id in reversed(source)]) for source in sources]


def write(folder, sources, targets) -> PairIds:
    return write_pair_ids(folder / "ids", zip(sources, targets, strict=True), VOCAB)


def test_lines_that_belong_together_pass(lines, tmp_path):
    assert find_misalignment(write(tmp_path, *zip(*lines, strict=True)), VOCAB) is None


def test_lines_sorted_by_length_pass(lines, tmp_path):
    ordered = sorted(lines, key=lambda pair: len(pair[0]))

    assert find_misalignment(write(tmp_path, *zip(*ordered, strict=True)), VOCAB) is None


@pytest.mark.parametrize("offset", [1, 2, 3, -1, -3])
def test_the_offset_at_which_targets_fit_is_found(lines, tmp_path, offset):
    sources, targets = zip(*lines, strict=True)
    first_source, first_target = max(offset, 0), max(-offset, 0)
    shifted = zip(sources[first_source:], targets[first_target:], strict=False)

    found = find_misalignment(write(tmp_path, *zip(*shifted, strict=True)), VOCAB)

    assert found.offset == offset  # the target of line n stands at line n + offset
    assert found.first_pair == 0
    assert found.share == pytest.approx(0.5, abs=0.1)
    assert found.share_at_offset > 0.85


def test_a_drift_is_found_about_where_it_begins(lines, tmp_path):
    sources, targets = zip(*lines, strict=True)

    found = find_misalignment(
        write(tmp_path, [*sources[:1_000], *sources[1_001:]], targets[:-1]), VOCAB
    )

    assert found.offset == 1
    assert found.first_pair == pytest.approx(1_000, abs=2_400 / 20)  # a passage further at most


def test_unrelated_sides_are_found(lines, tmp_path):
    sources, targets = zip(*lines, strict=True)
    shuffled = random.Random(2).sample(targets, len(targets))

    found = find_misalignment(write(tmp_path, sources, shuffled), VOCAB)

    assert found.offset == 0
    assert found.share == found.share_at_offset == pytest.approx(0.5, abs=0.1)


def test_lengths_that_agree_speak_for_lines_whose_words_tell_nothing(lines, tmp_path):
    draw = random.Random(3)
    sources = [source for source, _ in lines]
    targets = [[draw.randrange(60, VOCAB) for _ in source] for source in sources]

    assert find_misalignment(write(tmp_path, sources, targets), VOCAB) is None


def test_nothing_is_said_where_neither_words_nor_lengths_tell_anything(tmp_path):
    draw = random.Random(4)
    sources, targets = ([draw.choices(range(60), k=5) for _ in range(1_200)] for _ in range(2))

    assert find_misalignment(write(tmp_path, sources, targets), VOCAB) is None


def test_nothing_is_said_of_few_lines(lines, tmp_path):
    sources, targets = zip(*lines[:300], strict=True)

    assert find_misalignment(write(tmp_path, sources[1:], targets[:-1]), VOCAB) is None
