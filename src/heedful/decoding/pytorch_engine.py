"""The readable engine: our own model and search, on PyTorch."""

import sys
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import chain
from random import Random
from threading import Lock
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.decoding.hypothesis import (
    Attention,
    Hypothesis,
    Reading,
    Sampling,
    SearchConfig,
    attention_of_pieces,
    length_limit,
)
from heedful.decoding.search import Forced, beam_search, forced, greedy_search, sample
from heedful.machine.cores import num_cores, side_by_side
from heedful.model.attention import exact_attention
from heedful.model.batch import pad
from heedful.model.transformer import DecoderLayer, DecoderState, Transformer
from heedful.specials import BOS, EOS
from heedful.storage.alignment_head import AlignmentHead, usual_head
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder

BATCH_TOKENS = 4_096  # source pieces translated at once, padding and beams included


class PyTorchEngine:
    """Translates ids to ids with a Transformer in memory."""

    def __init__(
        self,
        model: Transformer,
        alignment_head: AlignmentHead | None = None,
        folder: ModelFolder | None = None,
    ) -> None:
        self.model = model
        self.folder = folder
        self.alignment_head = alignment_head or usual_head(model.config)
        self._one_at_a_time = Lock()  # each search takes all cores

    @classmethod
    def load(cls, folder: ModelFolder) -> "PyTorchEngine":
        """Read the weights of a model folder."""
        model = load_model(folder)
        return cls(model, folder.alignment_head(model.config), folder)

    def search(
        self,
        sources: Sequence[list[int]],
        config: SearchConfig,
        *,
        no_repeat: int = 0,
        prefixes: Sequence[Sequence[int]] = (),
        sampling: Sampling | None = None,
    ) -> list[list[Hypothesis]]:
        """Find the best hypotheses of every source, best first; sorts by length within."""
        self.model.eval()
        prefixes = prefixes or [()] * len(sources)
        dice = _dice(sampling, sources) if sampling else []
        batches = _plan(sources, config.beam_size)

        @torch.inference_mode()
        def search_batch(batch: list[int]) -> list[list[Hypothesis]]:
            chosen = [sources[index] for index in batch]
            state, limits = self._start(chosen, [prefixes[index] for index in batch])
            step = forced(self._step)
            if sampling:
                thrown = [dice[index] for index in batch]
                return [[h] for h in sample(step, state, limits, sampling, thrown, no_repeat)]
            if config.beam_size == 1:
                return [[h] for h in greedy_search(step, state, limits, no_repeat)]
            return beam_search(step, state, limits, config, no_repeat)

        with self._one_at_a_time:
            results = side_by_side(search_batch, batches, at_once=num_cores(self._device))
        found = dict(zip(chain(*batches), chain(*results), strict=True))
        return [found[index] for index in range(len(sources))]

    def read(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Reading]:
        """Tell how likely each piece of given translations is, and where the model looks."""
        watched, shift = _Watched(self.model, self.alignment_head), self.alignment_head.shift
        for source, target in zip(sources, targets, strict=True):
            scores, steps = watched(source, target)
            ended = torch.tensor([*target, EOS], device=scores.device)[: len(scores)]
            likely = scores.log_softmax(dim=-1).gather(1, ended[:, None])[:, 0]
            yield Reading(tuple(likely.tolist()), attention_of_pieces(steps, len(target), shift))

    def look(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Attention]:
        """Tell where the model looks as it reads given translations."""
        return (reading.attention for reading in self.read(sources, targets))

    def next_pieces(self, source: Sequence[int], prefix: Sequence[int]) -> list[float]:
        """Return the log-probability of every piece after a prefix."""
        scores, _ = _Watched(self.model, self.alignment_head)(source, prefix)
        return list(scores[-1].log_softmax(dim=-1).tolist())

    def _start(
        self, sources: list[list[int]], prefixes: list[Sequence[int]]
    ) -> tuple[Forced, list[int]]:
        """Read the sources, and tell how much may be written for each of them."""
        encoded = self.model.encode(pad([[*source, EOS] for source in sources]).to(self._device))
        limits = [
            min(length_limit(len(source), len(prefix)), self.most_pieces)
            for source, prefix in zip(sources, prefixes, strict=True)
        ]
        return Forced(encoded, pad([list(prefix) for prefix in prefixes])), limits

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def most_pieces(self) -> int:
        """How long a text can be read or written: as long as there are positions."""
        config = self.model.config
        return config.max_length if config.positions == "learned" else sys.maxsize

    def _step(self, last: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        # The search itself stays on the CPU, wherever the model is.
        x, state = self.model.decode(last[:, None].to(state.source_visible.device), state)
        return self.model.logits(x[:, 0]).log_softmax(dim=-1).cpu(), state


class _Watched:
    """A model that tells where one of its heads looks.

    It has modules of its own but the same weights: other threads go on with the model as it is.
    """

    def __init__(self, model: Transformer, head: AlignmentHead) -> None:
        shared = chain(model.parameters(), model.buffers())
        self._model = deepcopy(model, {id(tensor): tensor for tensor in shared}).eval()
        self._head = head
        self._weights: Float[Tensor, "batch head query key"]
        layer = cast(DecoderLayer, self._model.decoder[head.layer])
        layer.source_attention.attend = self._attend

    @torch.no_grad()
    def __call__(
        self, source: Sequence[int], target: Sequence[int]
    ) -> tuple[Float[Tensor, "step vocab"], list[list[float]]]:
        """Score the next pieces, and list the attention, of every step that has a position."""
        device, config = next(self._model.parameters()).device, self._model.config
        read: Int[Tensor, "batch src"] = pad([[*source, EOS]]).to(device)
        most = config.max_length if config.positions == "learned" else None
        (scores,) = self._model(read, pad([[BOS, *target][:most]]).to(device))
        (heads,) = self._weights[..., : len(source)]
        steps = heads.mean(dim=0) if self._head.head is None else heads[self._head.head]
        return scores, steps.tolist()

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        gathered, self._weights = exact_attention(query, key, value, visible)
        return gathered


def _dice(sampling: Sampling, sources: Sequence[list[int]]) -> list[Random]:
    """Give each source dice of its own, so that it does not matter what shares its batch."""
    seed = sampling.seed_for(sources)
    return [Random(f"{seed} {index}") for index in range(len(sources))]


def _plan(sources: Sequence[list[int]], beam_size: int) -> list[list[int]]:
    """Cut the sources, the longest first, into batches under the token budget."""
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]), reverse=True)
    batches = []
    while order:
        size = max(BATCH_TOKENS // ((len(sources[order[0]]) + 1) * beam_size), 1)
        batches.append(order[:size])
        order = order[size:]
    return batches
