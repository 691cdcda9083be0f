from heedful.data import shortlist
from heedful.data.pair_ids import PairIds, write_pair_ids
from heedful.data.shortlist import learn_shortlist
from heedful.specials import EOS

# 4 is translated by 14, 5 by 15, 6 by 16; 10 is everywhere, as a full stop is.
PAIRS = [([4, 5], [14, 15, 10]), ([5, 6], [16, 15, 10]), ([4, 6], [14, 16, 10])] * 4


def test_a_source_piece_calls_for_what_it_is_translated_by(tmp_path):
    found = learn_shortlist(write_pair_ids(tmp_path / "ids", PAIRS, 20), vocab_size=20)

    assert [found.translations[id][0] for id in (4, 5, 6)] == [14, 15, 16]
    assert 16 not in found.translations[4]  # but for chance, none of those in the same pair


def test_the_most_common_pieces_are_for_any_source(tmp_path, monkeypatch):
    monkeypatch.setattr(shortlist, "COMMON", 1)

    found = learn_shortlist(write_pair_ids(tmp_path / "ids", PAIRS, 20), vocab_size=20)

    assert found.common == [10]


def test_no_piece_calls_for_more_than_a_few(tmp_path, monkeypatch):
    monkeypatch.setattr(shortlist, "TRANSLATIONS", 1)

    found = learn_shortlist(write_pair_ids(tmp_path / "ids", PAIRS, 20), vocab_size=20)

    assert {id: found.translations[id] for id in (4, 5, 6)} == {4: [14], 5: [15], 6: [16]}


def test_of_a_large_corpus_every_nth_pair_is_looked_at(tmp_path, monkeypatch):
    pairs = write_pair_ids(tmp_path / "ids", PAIRS, 20)
    monkeypatch.setattr(shortlist, "MOST_LINKS", 24)  # each pair has 2 * 3, and there are 12

    read, original = [], PairIds.__getitem__
    monkeypatch.setattr(PairIds, "__getitem__", lambda s, row: read.append(row) or original(s, row))

    found = learn_shortlist(pairs, vocab_size=20)

    assert read == [0, 3, 6, 9]  # which are all the same, so that nothing else can be learned
    assert found.translations.keys() == {4, 5, EOS}
