"""Greedy and beam search (section 6.1), and sampling, over anything that scores the next piece."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.decoding.hypothesis import Hypothesis, Sampling, SearchConfig, best_first
from heedful.specials import BOS, EOS, PAD


@runtime_checkable
class State(Protocol):
    """What a step remembers, one row per hypothesis."""

    def select(self, rows: Int[Tensor, " chosen"]) -> Any:
        """Keep the given rows, in the given order."""


_BLOCK = 64  # pieces that are passed over together if their best is not good enough


StepFunction = Callable[[Tensor, Any], tuple[Tensor, Any]]
"""Last ids [rows] and state in; log-probabilities of all next pieces [rows vocab] and state out."""


Choose = Callable[[Tensor, Tensor], Tensor]
"""Log-probabilities [rows vocab] and sentence numbers [rows] in; the next piece of each out."""


def greedy_search(
    step: StepFunction, state: State, max_lengths: Sequence[int], no_repeat: int = 0
) -> list[Hypothesis]:
    """Follow the likeliest next piece of every sentence until it is EOS."""
    return _follow(step, state, max_lengths, lambda likely, _: top(likely, 1)[1][:, 0], no_repeat)


def sample(
    step: StepFunction,
    state: State,
    max_lengths: Sequence[int],
    sampling: Sampling,
    dice: Sequence[Random],
    no_repeat: int = 0,
) -> list[Hypothesis]:
    """Draw the next piece of every sentence, by dice of its own, until it is EOS."""

    def draw(
        log_probabilities: Float[Tensor, "rows vocab"], sentences: Int[Tensor, " rows"]
    ) -> Int[Tensor, " rows"]:
        heights = chances(log_probabilities, sampling).cumsum(dim=1)
        thrown = torch.tensor([[dice[s].random()] for s in sentences.tolist()]) * heights[:, -1:]
        return torch.searchsorted(heights, thrown, right=True)[:, 0]

    return _follow(step, state, max_lengths, draw, no_repeat)


def chances(
    log_probabilities: Float[Tensor, "rows vocab"], sampling: Sampling
) -> Float[Tensor, "rows vocab"]:
    """Return how likely each piece is drawn: tempered, of the top k, and of these the top p."""
    tempered = log_probabilities.double() / sampling.temperature
    likely, pieces = tempered.sort(dim=1, descending=True, stable=True)
    likely[:, sampling.top_k or likely.size(1) :] = -torch.inf
    probabilities = likely.softmax(dim=1)
    before = probabilities.cumsum(dim=1) - probabilities
    drawn = likely.masked_fill(before >= sampling.top_p, -torch.inf).softmax(dim=1)
    return torch.zeros_like(drawn).scatter(1, pieces, drawn)


def _follow(
    step: StepFunction, state: State, max_lengths: Sequence[int], choose: Choose, no_repeat: int
) -> list[Hypothesis]:
    """Go on with one piece at a time until it is EOS."""
    found: list[Hypothesis | None] = [None] * len(max_lengths)
    limits = torch.tensor(max_lengths)
    sentences = torch.arange(len(max_lengths))
    written = torch.full((len(max_lengths), 1), BOS)
    totals = torch.zeros(len(max_lengths))
    while len(sentences):
        log_probabilities, state = step(written[:, -1], state)
        log_probabilities = forbid_repeats(log_probabilities, written, no_repeat)
        pieces = choose(log_probabilities, sentences)
        totals = totals + log_probabilities.gather(1, pieces[:, None])[:, 0]
        written = torch.cat([written, pieces[:, None]], dim=1)
        ends = pieces == EOS
        stops = ends | (limits <= written.size(1) - 1)
        for row in stops.nonzero().flatten().tolist():
            found[int(sentences[row])] = _hypothesis(written[row, 1:], totals[row])
        if stops.any():
            rows = (~stops).nonzero().flatten()
            sentences, limits, written, totals = (
                t[rows] for t in (sentences, limits, written, totals)
            )
            state = state.select(rows)
    return [hypothesis for hypothesis in found if hypothesis is not None]


@dataclass(frozen=True)
class Forced:
    """A state whose next pieces are given (forced decoding), for as long as they are not PAD."""

    state: Any
    given: Int[Tensor, "rows length"]

    def select(self, rows: Int[Tensor, " chosen"]) -> "Forced":
        """Keep the given rows, in the given order."""
        return Forced(self.state.select(rows), self.given[rows])


def forced(step: StepFunction) -> StepFunction:
    """Make a step write what is given before what it likes (prefix-constrained decoding)."""

    def forced_step(last: Tensor, state: Forced) -> tuple[Tensor, Forced]:
        log_probabilities, inner = step(last, state.state)
        given, later = state.given[:, :1], state.given[:, 1:]
        if given.size(1):
            certain = torch.full_like(log_probabilities, -torch.inf).scatter(1, given, 0.0)
            log_probabilities = torch.where(given == PAD, log_probabilities, certain)
        return log_probabilities, Forced(inner, later)

    return forced_step


def beam_search(
    step: StepFunction,
    state: State,
    max_lengths: Sequence[int],
    config: SearchConfig,
    no_repeat: int = 0,
) -> list[list[Hypothesis]]:
    """Find up to `beam_size` hypotheses for every sentence, best first.

    The state starts with one row per sentence. A sentence is done when one and a half beams' worth
    of hypotheses have ended, one of them as the likeliest of its step, or at its length limit.
    """
    beams = _Beams(max_lengths, config)
    while len(beams.sentences):
        written = beams.written.flatten(0, 1)
        log_probabilities, state = step(written[:, -1], state)
        log_probabilities = forbid_repeats(log_probabilities, written, no_repeat)
        rows = beams.advance(log_probabilities)
        state = state.select(rows)
    return [best_first(found, config) for found in beams.found]


def top(
    scores: Float[Tensor, "rows vocab"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """Find the best scores of every row, best first, and their pieces.

    They lie in the blocks whose maxima are best. To look for maxima is many times cheaper than to
    rank, and only what is in these blocks need be ranked.
    """
    in_blocks = scores.size(1) // _BLOCK * _BLOCK
    pieces = torch.arange(scores.size(1))
    blocks = scores[:, :in_blocks].unflatten(1, (-1, _BLOCK))
    best = blocks.amax(dim=2).topk(min(count, blocks.size(1))).indices
    near = blocks.gather(1, best[:, :, None].expand(-1, -1, _BLOCK)).flatten(1)
    near_pieces = pieces[:in_blocks].unflatten(0, (-1, _BLOCK))[best].flatten(1)
    rest = pieces[in_blocks:].expand(len(scores), -1)
    values, places = torch.cat([near, scores[:, in_blocks:]], dim=1).topk(count)
    return values, torch.cat([near_pieces, rest], dim=1).gather(1, places)


def forbid_repeats(
    log_probabilities: Float[Tensor, "rows vocab"], written: Int[Tensor, "rows length"], size: int
) -> Float[Tensor, "rows vocab"]:
    """Leave no probability to pieces that would write `size` pieces in a row a second time.

    That is n-gram blocking. Nor is any left to ending before something is written. What is forced,
    and so all that there is, stays.
    """
    if not size or 1 < written.size(1) < size:
        return log_probabilities
    allowed = log_probabilities.clone()
    if written.size(1) == 1:
        allowed[:, EOS] = -torch.inf
    else:
        runs = written.unfold(1, size, 1)
        end = written[:, None, written.size(1) - size + 1 :]
        rows, starts = (runs[:, :, :-1] == end).all(dim=2).nonzero(as_tuple=True)
        allowed[rows, runs[rows, starts, -1]] = -torch.inf
    is_free = allowed.isfinite().any(dim=1, keepdim=True)
    return torch.where(is_free, allowed.log_softmax(dim=-1), log_probabilities)


class _Beams:
    """The unfinished hypotheses of every sentence that is still searched."""

    def __init__(self, max_lengths: Sequence[int], config: SearchConfig) -> None:
        num_sentences = len(max_lengths)
        self.beam_size, self.enough = config.beam_size, config.num_ended
        self.found: list[list[Hypothesis]] = [[] for _ in max_lengths]
        self.sentences = torch.arange(num_sentences)
        self.limits = torch.tensor(max_lengths)
        self.likeliest_ended = torch.zeros(num_sentences, dtype=torch.bool)
        self.written: Int[Tensor, "sentence beam length"] = torch.full((num_sentences, 1, 1), BOS)
        self.totals: Float[Tensor, "sentence beam"] = torch.zeros(num_sentences, 1)

    def advance(self, log_probabilities: Float[Tensor, "rows vocab"]) -> Int[Tensor, " chosen"]:
        """Grow every beam by one piece and return the rows that its new hypotheses come from."""
        width = self.totals.size(1)
        # Twice the beam, so that a beam's worth goes on even if as many end here.
        num_each = min(2 * self.beam_size, log_probabilities.size(1))
        likely, next_pieces = (
            t.unflatten(0, (-1, width)) for t in top(log_probabilities, num_each)
        )
        candidates = (self.totals[:, :, None] + likely).flatten(1)
        totals, chosen = candidates.topk(min(2 * self.beam_size, candidates.size(1)))
        parents, pieces = chosen // num_each, next_pieces.flatten(1).gather(1, chosen)
        parents_written = self.written.gather(
            1, parents[:, :, None].expand(-1, -1, self.written.size(2))
        )
        written = torch.cat([parents_written, pieces[:, :, None]], dim=2)
        ends = pieces == EOS
        is_done = self._collect(written, totals, ends)
        going_on = ends.int().argsort(dim=1, stable=True)[:, : self.beam_size]
        return self._keep(
            ~is_done, going_on, parents, written, totals.masked_fill(ends, -torch.inf)
        )

    def _collect(
        self,
        written: Int[Tensor, "sentence candidate length"],
        totals: Float[Tensor, "sentence candidate"],
        ends: Bool[Tensor, "sentence candidate"],
    ) -> Bool[Tensor, " sentence"]:
        """Note the hypotheses that stop here; tell which sentences are done."""
        length = written.size(2) - 1
        is_last = self.limits <= length
        stops = (ends | is_last[:, None]) & totals.isfinite()
        stops[:, self.beam_size :] = False
        for row, candidate in stops.nonzero().tolist():
            self.found[int(self.sentences[row])].append(
                _hypothesis(written[row, candidate, 1:], totals[row, candidate])
            )
        self.likeliest_ended |= ends[:, 0]
        has_enough = [len(self.found[s]) >= self.enough for s in self.sentences.tolist()]
        return is_last | (self.likeliest_ended & torch.tensor(has_enough))

    def _keep(
        self,
        alive: Bool[Tensor, " sentence"],
        going_on: Int[Tensor, "sentence beam"],
        parents: Int[Tensor, "sentence candidate"],
        written: Int[Tensor, "sentence candidate length"],
        totals: Float[Tensor, "sentence candidate"],
    ) -> Int[Tensor, " chosen"]:
        starts = torch.arange(len(alive))[:, None] * self.totals.size(1)
        rows = (starts + parents.gather(1, going_on))[alive].flatten()
        self.sentences, self.limits = self.sentences[alive], self.limits[alive]
        self.likeliest_ended = self.likeliest_ended[alive]
        self.totals = totals.gather(1, going_on)[alive]
        self.written = written.gather(1, going_on[:, :, None].expand(-1, -1, written.size(2)))[
            alive
        ]
        return rows


def _hypothesis(written: Int[Tensor, " length"], total: Float[Tensor, ""]) -> Hypothesis:
    pieces = tuple(written.tolist())
    is_finished = pieces[-1] == EOS
    return Hypothesis(pieces[:-1] if is_finished else pieces, total.item(), is_finished)
