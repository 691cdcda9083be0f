"""The fast engine: CTranslate2, without torch."""

from collections.abc import Sequence
from itertools import zip_longest
from threading import Lock

from heedful.decoding.hypothesis import (
    EXTRA_LENGTH,
    Hypothesis,
    SearchConfig,
    attention_of_pieces,
    best_first,
)
from heedful.decoding.layout import Layout, best_layout, known_layout
from heedful.errors import ModelFolderError
from heedful.folder import ModelFolder
from heedful.model.config import ModelConfig
from heedful.specials import EOS

_LONGEST = 2_048  # sinusoids that are exported; ours have no end
_MANY = 128  # sources that are worth measuring the layout for, and a shortlist


def most_pieces(config: ModelConfig) -> int:
    """Return how long a text an exported model can read or write."""
    return config.max_length if config.positions == "learned" else _LONGEST


class CTranslate2Engine:
    """Translates ids to ids with an exported model.

    In float32 it finds what the PyTorch engine finds. Without a layout it takes the fastest.
    """

    def __init__(self, folder: ModelFolder, layout: Layout | None = None) -> None:
        tokenizer = folder.tokenizer()
        self._pieces = tokenizer.pieces(range(tokenizer.vocab_size))
        self._ids = {piece: id for id, piece in enumerate(self._pieces)}
        self._most_pieces = most_pieces(folder.config())
        self._shift = folder.alignment_head().shift
        self._folder = folder
        self._settling = Lock()
        self._is_settled = layout is not None
        self._load(layout or known_layout(folder))

    def search(self, sources: Sequence[list[int]], config: SearchConfig) -> list[list[Hypothesis]]:
        """Find the best hypotheses of every source, best first; equal sources are searched once."""
        if len(sources) >= _MANY:
            self._settle()
        distinct = list(dict.fromkeys(map(tuple, sources)))
        found = dict(zip(distinct, self._search_distinct(distinct, config), strict=True))
        return [found[tuple(source)] for source in sources]

    def _search_distinct(
        self, sources: Sequence[tuple[int, ...]], config: SearchConfig
    ) -> list[list[Hypothesis]]:
        limits = [min(len(source) + EXTRA_LENGTH, self._most_pieces) for source in sources]
        found = self._search(sources, config, max(limits, default=0))
        for index, limit in enumerate(limits):
            # CTranslate2 has one limit for a whole batch; who went beyond his own tries again.
            if any(len(hypothesis.pieces) >= limit for hypothesis in found[index]):
                (found[index],) = self._search([sources[index]], config, limit)
        return [best_first(hypotheses, config) for hypotheses in found]

    def _load(self, layout: Layout) -> None:
        try:
            self._layout, self._translator = layout, layout.translator(self._folder)
        except RuntimeError as error:
            raise ModelFolderError(
                f"{self._folder.ctranslate2}: damaged, {str(error).splitlines()[0]}; make it again "
                f"with: heedful export {self._folder.path}"
            ) from error

    def _settle(self) -> None:
        with self._settling:
            if self._is_settled:
                return
            layout = best_layout(self._folder)
            if layout != self._layout:
                self._load(layout)
            self._is_settled = True

    def _search(
        self, sources: Sequence[tuple[int, ...]], config: SearchConfig, limit: int
    ) -> list[list[Hypothesis]]:
        results = self._translator.translate_batch(
            [[self._pieces[id] for id in source] for source in sources],
            beam_size=config.beam_size,
            patience=config.num_ended / config.beam_size,
            num_hypotheses=config.num_ended,
            length_penalty=0,  # hypotheses come with their log-probability, and we rank them
            min_decoding_length=0,  # else EOS would lose its probability in the first step
            max_decoding_length=limit,
            max_input_length=0,
            max_batch_size=self._layout.batch_tokens,
            batch_type="tokens",
            return_scores=True,
            return_end_token=True,
            return_attention=config.attention,
            # Likely pieces of a whole batch miss next to nothing; those of one sentence would.
            use_vmap=len(sources) >= _MANY and self._layout.takes_shortlist(self._folder),
        )
        return [
            [
                self._hypothesis(*found)
                for found in zip_longest(result.hypotheses, result.scores, result.attention)
            ]
            for result in results
        ]

    def _hypothesis(
        self, pieces: list[str], log_probability: float, steps: list[list[float]] | None
    ) -> Hypothesis:
        ids = tuple(self._ids[piece] for piece in pieces)
        is_finished = ids[-1:] == (EOS,)
        ids = ids[:-1] if is_finished else ids
        attention = attention_of_pieces(steps, len(ids), self._shift) if steps else None
        return Hypothesis(ids, log_probability, is_finished, attention)
