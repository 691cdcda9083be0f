"""What an engine can do: ids in, hypotheses out."""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from heedful.decoding.hypothesis import (
    Attention,
    Hypothesis,
    Reading,
    Sampling,
    SearchConfig,
)


@runtime_checkable
class Engine(Protocol):
    """Whatever turns source ids into hypotheses."""

    @property
    def most_pieces(self) -> int:
        """How long a text it can read or write."""

    def search(
        self,
        sources: Sequence[list[int]],
        config: SearchConfig,
        *,
        no_repeat: int = 0,
        prefixes: Sequence[Sequence[int]] = (),
        sampling: Sampling | None = None,
    ) -> list[list[Hypothesis]]:
        """Find the best hypotheses of every source, best first.

        Where `no_repeat` is given, they write something, and never as many pieces in a row a second
        time. Each begins with its prefix, if there are any. With sampling, one is drawn by chance.
        """

    def read(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Reading]:
        """Tell how likely each piece of given translations is, and where the model looks.

        So it reads in training too: every piece after those that are given (teacher forcing). They
        come in order, and no more of them are held than fit a bound, however many are asked for.
        """

    def look(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Attention]:
        """Tell where the model looks as it reads given translations, and no more than that."""

    def next_pieces(self, source: Sequence[int], prefix: Sequence[int]) -> list[float]:
        """Return the log-probability of every piece after a prefix."""
