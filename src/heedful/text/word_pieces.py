"""Which pieces spell which word, and from attention between pieces to links between words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.text.tokenizer import Tokenizer
from heedful.text.words import find_words


@dataclass(frozen=True)
class WordPieces:
    """The words of a text that is cut into pieces."""

    words: tuple[str, ...]
    membership: NDArray[np.bool_]
    """A row for each word, a column for each piece; a piece may be part of several words."""


def word_pieces(
    tokenizer: Tokenizer,
    ids: Sequence[int],
    find: Callable[[str], list[tuple[int, int]]] = find_words,
) -> WordPieces:
    """Find the words that the pieces spell.

    A space, or a byte that does not complete a character, belongs to what follows.
    """
    spelling = tokenizer.spell(ids)
    text = "".join(spelling)
    spans = find(text)
    membership = np.zeros((len(spans), len(ids)), dtype=np.bool_)
    start = 0
    for piece, part in enumerate(spelling):
        first, start = start + len(part) - len(part.lstrip()), start + len(part)
        last = max(start, first + 1)
        for word, (begin, end) in enumerate(spans):
            membership[word, piece] = begin < last and first < end
    return WordPieces(tuple(text[begin:end] for begin, end in spans), membership)


def best_links(attention: NDArray[Any], source: WordPieces, target: WordPieces) -> NDArray[np.intp]:
    """Return for each target word the source word that its pieces looked at most.

    Several matrices, in front of the axes of target and source pieces, are linked at once.
    """
    between_words = target.membership @ attention @ source.membership.T
    links: NDArray[np.intp] = np.argmax(between_words, axis=-1)
    return links
