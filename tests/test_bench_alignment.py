import pytest

from benchmarks.alignment import AlignmentErrorRate, GoldPair, find_spaced_words, main, read_gold


@pytest.fixture
def gold(tmp_path):
    (tmp_path / "pairs.txt").write_text("a b ||| A B \nc ||| C\n")
    (tmp_path / "pairs.gold").write_text("1-1 2p2\n1-1\n")
    return tmp_path


def test_gold_alignments_are_read_as_they_are_written(gold):
    first, second = read_gold(gold)

    assert first == GoldPair("a b", "A B", frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    assert second.sure == second.possible == {(0, 0)}


def test_the_error_rate_is_that_of_och_and_ney():
    pair = GoldPair("", "", frozenset({(0, 0)}), frozenset({(0, 0), (1, 1)}))
    rate = AlignmentErrorRate()

    rate.add(frozenset({(0, 0), (1, 1), (2, 2)}), pair)

    assert rate.value == pytest.approx(1 - (1 + 2) / (3 + 1))


def test_words_are_what_stands_between_spaces():
    assert find_spaced_words("l' eau .") == [(0, 2), (3, 6), (7, 8)]


def test_every_head_is_told_and_the_best_the_chosen_and_a_diagonal(gold, model_folder, capsys):
    main(gold, model_folder)

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 * 3 * 2 + 3
    assert [line.split()[0] for line in lines[-3:]] == ["best", "chosen", "diagonal"]
    assert lines[-1] == "diagonal  AER 0.000"
