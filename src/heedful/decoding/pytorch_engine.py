"""The readable engine: our own model and search, on PyTorch."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from threading import Lock

import torch
from torch import Tensor

from heedful.checkpoint import load_model
from heedful.cores import num_cores, side_by_side
from heedful.decoding.hypothesis import (
    EXTRA_LENGTH,
    Hypothesis,
    SearchConfig,
    attention_of_pieces,
)
from heedful.decoding.search import beam_search, greedy_search
from heedful.folder import ModelFolder
from heedful.model.alignment_head import AlignmentHead, usual_head
from heedful.model.recording import record_attention
from heedful.model.transformer import DecoderState, Transformer
from heedful.specials import BOS, EOS
from heedful.text.batches import pad

_BATCH_TOKENS = 2_048  # source pieces translated at once, padding and beams included


class PyTorchEngine:
    """Translates ids to ids with a Transformer in memory."""

    def __init__(self, model: Transformer, alignment_head: AlignmentHead | None = None) -> None:
        self.model = model
        self.alignment_head = alignment_head or usual_head(model.config)
        self._one_at_a_time = Lock()  # each search takes all cores

    @classmethod
    def load(cls, folder: ModelFolder) -> "PyTorchEngine":
        """Read the weights of a model folder."""
        return cls(load_model(folder), folder.alignment_head())

    def search(self, sources: Sequence[list[int]], config: SearchConfig) -> list[list[Hypothesis]]:
        """Find the best hypotheses of every source, best first; sorts by length within."""
        self.model.eval()
        batches = _plan(sources, config.beam_size)

        def search_batch(batch: list[int]) -> list[list[Hypothesis]]:
            return self._search_batch([sources[index] for index in batch], config)

        with self._one_at_a_time:
            results = side_by_side(search_batch, batches, at_once=num_cores(self._device))
            found = dict(zip(chain(*batches), chain(*results), strict=True))
            hypotheses = [found[index] for index in range(len(sources))]
            return self._with_attention(sources, hypotheses) if config.attention else hypotheses

    @torch.no_grad()
    def _search_batch(
        self, sources: list[list[int]], config: SearchConfig
    ) -> list[list[Hypothesis]]:
        state = self.model.encode(pad([[*source, EOS] for source in sources]).to(self._device))
        limits = [self._most_pieces(len(source)) for source in sources]
        if config.beam_size == 1:
            return [[best] for best in greedy_search(self._step, state, limits)]
        return beam_search(self._step, state, limits, config)

    @torch.no_grad()
    def _with_attention(
        self, sources: Sequence[list[int]], found: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        """Read the hypotheses once more, and note where the model looks."""
        head = self.alignment_head
        noted = []
        for source, hypotheses in zip(sources, found, strict=True):
            state = self.model.encode(pad([[*source, EOS]] * len(hypotheses)).to(self._device))
            targets = pad([[BOS, *hypothesis.pieces] for hypothesis in hypotheses])
            with record_attention(self.model) as maps:
                self.model.decode(targets.to(self._device), state)
            (weights,) = maps[f"decoder.{head.layer}.source_attention"]
            steps = weights.mean(dim=1) if head.head is None else weights[:, head.head]
            noted.append(
                [
                    _with_rows(hypothesis, rows[:, : len(source)].tolist(), head.shift)
                    for hypothesis, rows in zip(hypotheses, steps, strict=True)
                ]
            )
        return noted

    @property
    def _device(self) -> torch.device:
        return next(self.model.parameters()).device

    def _most_pieces(self, source_length: int) -> int:
        config, wanted = self.model.config, source_length + EXTRA_LENGTH
        return min(wanted, config.max_length) if config.positions == "learned" else wanted

    def _step(self, last: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        # The search itself stays on the CPU, wherever the model is.
        x, state = self.model.decode(last[:, None].to(state.source_visible.device), state)
        return self.model.logits(x[:, 0]).log_softmax(dim=-1).cpu(), state


def _with_rows(hypothesis: Hypothesis, steps: list[list[float]], shift: int) -> Hypothesis:
    num_pieces = len(hypothesis.pieces)
    written = steps[: num_pieces + hypothesis.is_finished]
    return replace(hypothesis, attention=attention_of_pieces(written, num_pieces, shift))


def _plan(sources: Sequence[list[int]], beam_size: int) -> list[list[int]]:
    """Cut the sources, the longest first, into batches under the token budget."""
    order = sorted(range(len(sources)), key=lambda index: len(sources[index]), reverse=True)
    batches = []
    while order:
        size = max(_BATCH_TOKENS // ((len(sources[order[0]]) + 1) * beam_size), 1)
        batches.append(order[:size])
        order = order[size:]
    return batches
