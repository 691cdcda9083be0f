"""Which pieces spell which word, and from attention between pieces to links between words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    """Find the words that the pieces spell; a space belongs to the word that follows it."""
    spelling = tokenizer.spelling(ids)
    joined = b"".join(spelling)
    text = joined.decode(errors="ignore")
    spans = find(text)
    membership = np.zeros((len(spans), len(ids)), dtype=np.bool_)
    offset = 0
    for piece, part in enumerate(spelling):
        blank = len(part) - len(part.lstrip(b" "))
        start, offset = offset + blank, offset + len(part)
        # A character may be spelt by several pieces, byte by byte: all of them are part of it.
        first = len(joined[:start].decode(errors="ignore"))
        last = max(len(joined[:offset].decode(errors="ignore")), first + 1)
        for word, (begin, end) in enumerate(spans):
            membership[word, piece] = begin < last and first < end
    return WordPieces(tuple(text[begin:end] for begin, end in spans), membership)


def best_links(attention: ArrayLike, source: WordPieces, target: WordPieces) -> NDArray[np.intp]:
    """Return for each target word the source word that its pieces looked at most.

    Several matrices, in front of the axes of target and source pieces, are linked at once.
    """
    between_words = target.membership @ np.asarray(attention) @ source.membership.T
    links: NDArray[np.intp] = np.argmax(between_words, axis=-1)
    return links
