import pytest

from heedful.decoding.hypothesis import Hypothesis, Reading, SearchConfig
from heedful.translation.direction import DirectedEngine

TAG = 7


class Remembering:
    """An engine that notes what it is given, and looks at each source piece by its number."""

    most_pieces = 100

    def __init__(self):
        self.given = []

    def search(self, sources, config, **options):
        self.given.append((sources, options))
        return [[Hypothesis((9,), -1.0)] for _ in sources]

    def read(self, sources, targets):
        for source, target in zip(sources, targets, strict=True):
            yield Reading((-1.0,) * (len(target) + 1), self._looks(source, target))

    def look(self, sources, targets):
        return (self._looks(*pair) for pair in zip(sources, targets, strict=True))

    def next_pieces(self, source, prefix):
        self.given.append((source, prefix))
        return [0.0]

    def _looks(self, source, target):
        return tuple(tuple(map(float, source)) for _ in target)


@pytest.fixture
def engine():
    return DirectedEngine(Remembering(), TAG)


def test_every_source_is_searched_for_after_the_tag(engine):
    engine.search([[11, 12], [13]], SearchConfig(), no_repeat=3)

    assert engine.engine.given == [([[TAG, 11, 12], [TAG, 13]], {"no_repeat": 3})]


def test_where_it_looked_the_tag_is_left_out(engine):
    assert list(engine.look([[11, 12]], [[21]])) == [((11.0, 12.0),)]
    (reading,) = engine.read([[11, 12]], [[21, 22]])
    assert reading.attention == ((11.0, 12.0), (11.0, 12.0))
    assert len(reading.log_probabilities) == 3


def test_it_expects_what_follows_after_the_tag(engine):
    engine.next_pieces([11], [21])

    assert engine.engine.given == [([TAG, 11], [21])]


def test_the_tag_takes_the_place_of_a_piece(engine):
    assert engine.most_pieces == 99
