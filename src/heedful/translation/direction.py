"""Telling a model of several languages which of them to write.

The wanted language is a tag before the source, as Google's first multilingual model had it (Johnson
et al., 2017): one piece more for the engine, of which nothing else knows.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from heedful.decoding.engine import Engine
from heedful.decoding.hypothesis import Attention, Hypothesis, Reading, SearchConfig


class DirectedEngine:
    """An engine that puts a tag before every source, and takes it away again where it looked."""

    def __init__(self, engine: Engine, tag: int) -> None:
        self.engine = engine
        self.tag = tag

    @property
    def most_pieces(self) -> int:
        """One less than the engine can."""
        return self.engine.most_pieces - 1

    def search(
        self, sources: Sequence[list[int]], config: SearchConfig, **options: Any
    ) -> list[list[Hypothesis]]:
        """Find hypotheses in the wanted language."""
        return self.engine.search(self._tagged(sources), config, **options)

    def read(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Reading]:
        """Read as the engine does."""
        for reading in self.engine.read(self._tagged(sources), targets):
            yield reading._replace(attention=_without_tag(reading.attention))

    def look(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Attention]:
        """Look where the engine does."""
        return map(_without_tag, self.engine.look(self._tagged(sources), targets))

    def next_pieces(self, source: Sequence[int], prefix: Sequence[int]) -> list[float]:
        """Expect what the engine does."""
        return self.engine.next_pieces([self.tag, *source], prefix)

    def _tagged(self, sources: Sequence[Sequence[int]]) -> list[list[int]]:
        return [[self.tag, *source] for source in sources]


def _without_tag(attention: Attention) -> Attention:
    return tuple(row[1:] for row in attention)
