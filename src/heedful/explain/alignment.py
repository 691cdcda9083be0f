"""Choosing the attention that aligns words best, without gold alignments."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.aligner import Pair, align_pieces
from heedful.explain.record import record_attention
from heedful.model.transformer import Transformer
from heedful.specials import BOS, EOS
from heedful.storage.alignment_head import AlignmentHead, usual_head
from heedful.text.tokenizer import Tokenizer
from heedful.text.word_pieces import WordPieces, best_links, between_words, word_pieces

_JUDGED = 100  # pairs that are read, which takes about a second
CELLS = 1_000_000  # pieces times pieces, that the statistical aligner learns from


def choose_alignment_head(
    model: Transformer, tokenizer: Tokenizer, judged: Iterable[Pair], more: Iterable[Pair] = ()
) -> AlignmentHead:
    """Choose the head, or mean of a layer, that agrees best with a statistical aligner.

    Both link the words of the `judged` pairs; the aligner learns from these and from `more`.
    """
    judged = list(islice(judged, _JUDGED))
    learned = list(_affordable(chain(judged, more)))
    if not learned:
        return usual_head(model.config)
    config = model.config
    agreed, num_words = np.zeros((config.num_layers, config.num_heads + 1, 2)), 0
    bare = [(tokenizer.without_tag(source), target) for source, target in learned]
    wanted = align_pieces(bare, tokenizer.vocab_size)
    for (source, target), sides, statistics in islice(
        zip(learned, bare, wanted, strict=True), len(judged)
    ):
        words = [word_pieces(tokenizer.spell(side)) for side in sides]
        attention = all_attention(model, source, target)[..., -len(sides[0]) :]
        links = links_of_heads(attention, *words)
        agreed += (links == best_links(statistics, *words)).sum(axis=-1)
        num_words += len(words[1].words)
    layer, head, shift = np.unravel_index(np.argmax(agreed), agreed.shape)
    return AlignmentHead(
        layer=int(layer),
        head=None if head == config.num_heads else int(head),
        shift=int(shift),
        agreement=round(float(agreed.max()) / max(num_words, 1), 4),
    )


@torch.no_grad()
def all_attention(
    model: Transformer, source: Sequence[int], target: Sequence[int]
) -> NDArray[np.float32]:
    """Return all source attention over one pair: [layer, head, shift, target, source].

    The last of the heads is their mean.
    """
    device = next(model.parameters()).device
    model.eval()
    with record_attention(model) as maps:
        state = model.encode(torch.tensor([[*source, EOS]], device=device))
        model.decode(torch.tensor([[BOS, *target]], device=device), state)
    layers = torch.cat(
        [weights for name, (weights,) in maps.items() if name.endswith("source_attention")]
    )
    steps = torch.cat([layers, layers.mean(dim=1, keepdim=True)], dim=1)[..., : len(source)]
    return torch.stack([steps[:, :, :-1], steps[:, :, 1:]], dim=2).float().cpu().numpy()


def links_of_heads(
    attention: NDArray[Any], source: WordPieces, target: WordPieces
) -> NDArray[np.intp]:
    """Return what `best_links` does for every layer, head and shift: [layer, head, shift, word]."""
    looks = between_words(np.moveaxis(attention, (-2, -1), (0, 1)), source, target)
    links = np.array([np.argmax(seen, axis=0) for seen in looks], dtype=np.intp)
    return np.moveaxis(links.reshape(-1, *attention.shape[:-2]), 0, -1)


def _affordable(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yield pairs until the aligner has enough, but for those that have an empty side."""
    num_cells = 0
    for source, target in pairs:
        num_cells += len(source) * len(target)
        if num_cells > CELLS:
            return
        if source and target:
            yield source, target
