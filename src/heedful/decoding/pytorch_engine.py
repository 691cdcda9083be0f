"""The readable engine: our own model and search, on PyTorch."""

from collections.abc import Sequence

import torch
from torch import Tensor

from heedful.checkpoint import load_model
from heedful.decoding.hypothesis import EXTRA_LENGTH, Hypothesis, SearchConfig
from heedful.decoding.search import beam_search, greedy_search
from heedful.folder import ModelFolder
from heedful.model.transformer import DecoderState, Transformer
from heedful.specials import EOS
from heedful.text.batches import pad

_BATCH_TOKENS = 2_048  # source pieces translated at once, padding and beams included


class PyTorchEngine:
    """Translates ids to ids with a Transformer in memory."""

    def __init__(self, model: Transformer) -> None:
        self.model = model

    @classmethod
    def load(cls, folder: ModelFolder) -> "PyTorchEngine":
        """Read the weights of a model folder."""
        return cls(load_model(folder))

    def search(self, sources: Sequence[list[int]], config: SearchConfig) -> list[list[Hypothesis]]:
        """Find the best hypotheses of every source, best first; sorts by length within."""
        found: list[list[Hypothesis]] = [[] for _ in sources]
        order = sorted(range(len(sources)), key=lambda index: len(sources[index]), reverse=True)
        while order:
            longest = len(sources[order[0]]) + 1
            size = max(_BATCH_TOKENS // (longest * config.beam_size), 1)
            batch, order = order[:size], order[size:]
            results = self._search_batch([sources[index] for index in batch], config)
            for index, hypotheses in zip(batch, results, strict=True):
                found[index] = hypotheses
        return found

    @torch.no_grad()
    def _search_batch(
        self, sources: list[list[int]], config: SearchConfig
    ) -> list[list[Hypothesis]]:
        self.model.eval()
        state = self.model.encode(pad([[*source, EOS] for source in sources]))
        limits = [self._most_pieces(len(source)) for source in sources]
        if config.beam_size == 1:
            return [[best] for best in greedy_search(self._step, state, limits)]
        return beam_search(
            self._step, state, limits, beam_size=config.beam_size, alpha=config.alpha
        )

    def _most_pieces(self, source_length: int) -> int:
        config, wanted = self.model.config, source_length + EXTRA_LENGTH
        return min(wanted, config.max_length) if config.positions == "learned" else wanted

    def _step(self, last: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        x, state = self.model.decode(last[:, None], state)
        return self.model.logits(x[:, 0]).log_softmax(dim=-1), state
