"""Beam search as a tree: every candidate of every step, and what became of it.

It finds what decoding/search.py finds, for one sentence, and needs no torch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.decoding.hypothesis import Hypothesis, SearchConfig, best_first
from heedful.specials import BOS, EOS

Fate = Literal["kept", "finished", "cut", "outranked", "ended too low"]
"""Goes on; ended in EOS; stopped at the length limit; a beam's worth of likelier candidates went
on; or ended in EOS, but not among the likeliest `beam_size` of its step."""

StepFunction = Callable[[Sequence[int], Any], tuple[NDArray[np.float32], Any]]
"""Last ids and state in; log-probabilities of all next pieces [row, piece] and state out."""


class Node(NamedTuple):
    """One piece after those of its parent."""

    number: int
    """Counted from 1, in the order in which nodes were made; 0 is BOS."""
    parent: int
    pieces: tuple[int, ...]
    """From the beginning down to here."""
    log_probability: float
    """Of the last piece after those before it."""
    total: float
    """Of all pieces."""
    rank: int
    """Among the candidates of its step, 0 is the likeliest."""
    fate: Fate


@dataclass(frozen=True)
class Tree:
    """All that a search looked at."""

    steps: tuple[tuple[Node, ...], ...]
    """The candidates of each step, the likeliest first."""
    best: tuple[Hypothesis, ...]
    """What came out, the best first."""


def search_tree(step: StepFunction, state: Any, limit: int, config: SearchConfig) -> Tree:
    """Search to the end, as docs/decisions/0003 says, and keep all that was seen."""
    beam = [Node(0, -1, (), 0.0, 0.0, 0, "kept")]
    steps: list[tuple[Node, ...]] = []
    found: list[Hypothesis] = []
    number, likeliest_ended = 1, False
    while beam:
        scores, state = step([node.pieces[-1] if node.pieces else BOS for node in beam], state)
        candidates = _likeliest(scores, beam, 2 * config.beam_size)
        is_last = len(steps) + 1 >= limit
        judged = _judged(candidates, config.beam_size, number, is_last=is_last)
        number += len(judged)
        found += [_hypothesis(node) for node in judged if node.fate in ("finished", "cut")]
        steps.append(judged)
        likeliest_ended |= judged[0].pieces[-1] == EOS
        kept = [node for node in judged if node.fate == "kept"]
        places = {node.number: row for row, node in enumerate(beam)}
        state = state.select([places[node.parent] for node in kept])
        is_done = is_last or (likeliest_ended and len(found) >= config.num_ended)
        beam = [] if is_done else kept
    return Tree(tuple(steps), tuple(best_first(found, config)))


def _likeliest(scores: NDArray[np.float32], beam: Sequence[Node], count: int) -> list[Node]:
    """Find the likeliest ways to go on with any hypothesis of a beam."""
    grown = []
    for likely, parent in zip(scores, beam, strict=True):
        for piece in np.argsort(-likely, kind="stable")[:count].tolist():
            total = float(np.float32(parent.total) + likely[piece])
            pieces = (*parent.pieces, piece)
            grown.append(
                Node(0, parent.number, pieces, float(likely[piece]), total, 0, "outranked")
            )
    return sorted(grown, key=lambda node: -node.total)[:count]


def _judged(
    candidates: Sequence[Node], beam_size: int, number: int, *, is_last: bool
) -> tuple[Node, ...]:
    """Number the candidates, and say what becomes of each."""
    judged: list[Node] = []
    num_kept = 0
    for rank, node in enumerate(candidates):
        is_high = rank < beam_size
        fate: Fate = "outranked"
        if node.pieces[-1] == EOS:
            fate = "finished" if is_high else "ended too low"
        elif is_last:
            fate = "cut" if is_high else "outranked"
        elif num_kept < beam_size:
            fate = "kept"
        num_kept += fate == "kept"
        judged.append(node._replace(number=number + rank, rank=rank, fate=fate))
    return tuple(judged)


def _hypothesis(node: Node) -> Hypothesis:
    is_finished = node.pieces[-1] == EOS
    return Hypothesis(node.pieces[:-1] if is_finished else node.pieces, node.total, is_finished)
