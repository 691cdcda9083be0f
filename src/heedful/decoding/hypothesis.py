"""What search looks for, and how it is ranked (section 6.1)."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from heedful.errors import ConfigError, refuse_other_type

PATIENCE = 1.5  # beams' worth of hypotheses to wait for, as a good one may end after bad ones
EXTRA_LENGTH = 50  # section 6.1: output is at most this much longer than the input
_WIDEST = 1_000  # a beam; wider ones find worse translations, and take all of the memory
_COLDEST = 0.001  # below, the likeliest piece is drawn anyway, and numbers overflow
_LEAST_TOP_P = 1e-30  # below, it would be 0 in the engines

Attention = tuple[tuple[float, ...], ...]
"""A row for each target piece, a column for each source piece, both without EOS.

What a row lacks to 1 fell to the EOS of the source."""


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How to search. The defaults are those of section 6.1."""

    beam_size: int = 4
    """Hypotheses kept at every step; 1 is greedy search."""

    alpha: float = 0.6
    """α: how much the length penalty favours longer output."""

    n_best: int = 1
    """Translations to return, if so many that read differently are in the beam."""

    @property
    def num_ended(self) -> int:
        """Hypotheses that must have ended before a sentence is done, the likeliest among them."""
        return 1 if self.beam_size == 1 else math.ceil(PATIENCE * self.beam_size)

    @property
    def num_kept(self) -> int:
        """Hypotheses that are of use: the best, or all of a beam, as some may read the same."""
        return 1 if self.n_best == 1 else self.beam_size

    def __post_init__(self) -> None:
        if not 1 <= self.beam_size <= _WIDEST:
            raise ConfigError(f"beam_size must be from 1 to {_WIDEST:,}, got {self.beam_size}")
        if not 0 <= self.alpha <= 10:
            raise ConfigError(f"alpha must be from 0 to 10, got {self.alpha}")
        if not 1 <= self.n_best <= self.beam_size:
            raise ConfigError(
                f"n_best must be from 1 to the beam's {self.beam_size}, got {self.n_best}; "
                "for more, take a larger beam"
            )


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Draw each piece by chance (sampling) instead of searching for the likeliest text."""

    temperature: float = 1.0
    """Below 1, likely pieces become likelier yet; above 1, all become more alike."""
    top_k: int = 0
    """Draw from so many of the likeliest pieces; 0 is all."""
    top_p: float = 1.0
    """Draw from the likeliest pieces of this probability (nucleus sampling); 1 is all."""
    seed: int | None = None
    """The same texts with the same seed are translated the same again."""

    def __post_init__(self) -> None:
        refuse_other_type("temperature", self.temperature, float)
        refuse_other_type("top_k", self.top_k, int)
        refuse_other_type("top_p", self.top_p, float)
        refuse_other_type("seed", self.seed, int, None)
        if not _COLDEST <= self.temperature < math.inf:
            raise ConfigError(f"temperature must be {_COLDEST:g} or more, got {self.temperature:g}")
        if self.top_k < 0:
            raise ConfigError(f"top_k must be at least 1, or 0 for all, got {self.top_k}")
        if not _LEAST_TOP_P <= self.top_p <= 1:
            raise ConfigError(f"top_p must be above 0 and at most 1, got {self.top_p}")
        if self.seed is not None and not 0 <= self.seed < 1 << 32:
            raise ConfigError(f"seed must be from 0 to {(1 << 32) - 1}, got {self.seed}")

    def seed_for(self, sources: Sequence[Sequence[int]]) -> int:
        """Return what one search draws by.

        Other sources draw otherwise by the same seed, since a file takes many searches.
        """
        seed = None if self.seed is None else f"{self.seed} {list(map(list, sources))}"
        return Random(seed).getrandbits(31)


def sampling_of(**wishes: float | int | None) -> Sampling | None:
    """Make the sampling that is wished for in any respect, or none."""
    stated: dict[str, Any] = {name: wish for name, wish in wishes.items() if wish is not None}
    return Sampling(**stated) if stated else None


@dataclass(frozen=True)
class Hypothesis:
    """A translation as ids, without BOS and EOS."""

    pieces: tuple[int, ...]
    log_probability: float
    """Of what was chosen: pieces that were forced count as certain."""
    is_finished: bool = True
    """Whether it ended in EOS, rather than at the length limit."""

    def score(self, alpha: float) -> float:
        """Return log-probability over the length penalty ((5 + n) / 6)^α, EOS counted in n."""
        return self.log_probability / length_penalty(len(self.pieces) + self.is_finished, alpha)


class Reading(NamedTuple):
    """What a model makes of a given translation."""

    log_probabilities: tuple[float, ...]
    """Of each piece after those before it, and of the end."""
    attention: Attention


def length_penalty(length: int, alpha: float) -> float:
    """((5 + n) / 6)^α, of Wu et al. (2016)."""
    return float(((5 + length) / 6) ** alpha)


def length_limit(num_source: int, num_forced: int = 0) -> int:
    """Return how many pieces may be written for a source, after those that were forced."""
    return max(num_source, num_forced) + EXTRA_LENGTH


def best_first(found: Iterable[Hypothesis], config: SearchConfig) -> list[Hypothesis]:
    """Return the hypotheses that score best, as many as are of use.

    More may have ended than were waited for; the likeliest are ranked, as CTranslate2 has them.
    """
    likeliest = sorted(found, key=lambda hypothesis: -hypothesis.log_probability)
    waited_for = likeliest[: config.num_ended]
    return sorted(waited_for, key=lambda it: -it.score(config.alpha))[: config.num_kept]


def attention_of_pieces(steps: Sequence[Sequence[float]], num_pieces: int, shift: int) -> Attention:
    """Give each piece the attention of the step that wrote it, or of the one that read it.

    The last piece of a text that was cut off has not been read; it takes what it was written by.
    """
    rows = [tuple(step) for step in steps]
    return tuple(rows[min(piece + shift, len(rows) - 1)] for piece in range(num_pieces))
