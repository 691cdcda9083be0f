"""How well each head aligns words, by gold alignments.

The folder of gold alignments holds one `*.txt` with `source ||| target` lines of words, and one
`*.gold` with links of the same lines, counted from 1: `i-j` sure, `ipj` possible.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.explain.alignment import all_attention, links_of_heads
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder
from heedful.text.word_pieces import word_pieces

Links = frozenset[tuple[int, int]]


@dataclass(frozen=True)
class GoldPair:
    """A sentence pair and how people linked its words, counted from 0."""

    source: str
    target: str
    sure: Links
    possible: Links
    """The sure ones too."""


class AlignmentErrorRate:
    """1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|), of Och and Ney (2003)."""

    def __init__(self) -> None:
        self._right, self._all = 0, 0

    def add(self, links: Links, gold: GoldPair) -> None:
        """Count the links of one sentence pair."""
        self._right += len(links & gold.sure) + len(links & gold.possible)
        self._all += len(links) + len(gold.sure)

    @property
    def value(self) -> float:
        """The rate over all pairs so far."""
        return 1 - self._right / self._all


def read_gold(folder: Path) -> Iterator[GoldPair]:
    """Read the pairs of a folder."""
    (texts,), (golds,) = folder.glob("*.txt"), folder.glob("*.gold")
    lines = zip(texts.read_text().splitlines(), golds.read_text().splitlines(), strict=True)
    for text, gold in lines:
        source, target = (" ".join(side.split()) for side in text.split("|||"))
        links = re.findall(r"(\d+)([-p])(\d+)", gold)
        placed = [((int(i) - 1, int(j) - 1), kind) for i, kind, j in links]
        sure = frozenset(link for link, kind in placed if kind == "-")
        yield GoldPair(source, target, sure, frozenset(link for link, _ in placed))


def find_spaced_words(text: str) -> list[tuple[int, int]]:
    """Take for a word what stands between spaces, as gold alignments do."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def main(gold: Path, folder: ModelFolder) -> None:
    """Print the error rate of every layer, head and shift, of the chosen one and of a diagonal."""
    model, tokenizer, config = load_model(folder), folder.tokenizer(), folder.config()
    shape = (config.num_layers, config.num_heads + 1, 2)
    rates = {index: AlignmentErrorRate() for index in np.ndindex(shape)}
    diagonal = AlignmentErrorRate()
    for pair in read_gold(gold):
        source, target = tokenizer.encode(pair.source), tokenizer.encode(pair.target)
        words = [word_pieces(tokenizer.spell(ids), find_spaced_words) for ids in (source, target)]
        linked = links_of_heads(all_attention(model, source, target), *words)
        for index, rate in rates.items():
            rate.add(_links(linked[index]), pair)
        num_words, num_sources = len(words[1].words), len(words[0].words)
        diagonal.add(_links(np.arange(num_words) * num_sources // max(num_words, 1)), pair)
    for (layer, head, shift), rate in rates.items():
        name = "mean  " if head == config.num_heads else f"head {head}"
        print(f"layer {layer}  {name}  shift {shift}  AER {rate.value:.3f}")
    chosen = folder.alignment_head(config)
    head = config.num_heads if chosen.head is None else chosen.head
    best = min(rates, key=lambda index: rates[index].value)
    print(f"best      {best}  AER {rates[best].value:.3f}")
    index = (chosen.layer, head, chosen.shift)
    print(f"chosen    {index}  AER {rates[index].value:.3f}  agreement {chosen.agreement}")
    print(f"diagonal  AER {diagonal.value:.3f}")


def _links(best: NDArray[np.intp]) -> Links:
    return frozenset((int(source), word) for word, source in enumerate(best))


if __name__ == "__main__":
    main(Path(sys.argv[1]), ModelFolder(Path(sys.argv[2])))
