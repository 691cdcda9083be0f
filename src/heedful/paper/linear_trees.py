"""Trees as sequences (Vinyals et al., 2015), and a search that can write nothing but trees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from heedful.decoding.search import StepFunction
from heedful.paper.trees import Tree
from heedful.specials import BOS, EOS

WORD = "XX"


class Alphabet:
    """Ids for opening and closing each label, and for a word, after those of a vocabulary."""

    def __init__(self, labels: Iterable[str], first: int) -> None:
        self.labels = sorted(set(labels))
        self.word = first
        self.opening = {label: first + 1 + 2 * row for row, label in enumerate(self.labels)}
        self.closing = {label: id + 1 for label, id in self.opening.items()}
        self.vocab_size = first + 1 + 2 * len(self.labels)
        self.opens = {id: label for label, id in self.opening.items()}
        self.closes = {id: label for label, id in self.closing.items()}

    def encode(self, tree: Tree) -> list[int]:
        """Write a tree as ids: (NP XX XX )NP."""
        if tree.is_word:
            return [self.word]
        inside = [id for child in tree.children for id in self.encode(child)]
        return [self.opening[tree.label], *inside, self.closing[tree.label]]

    def decode(self, ids: Sequence[int], words: Sequence[Tree]) -> Tree:
        """Read a tree that is well-formed over words with their tags."""
        remaining, stack = iter(words), [("", list[Tree]())]
        for id in ids:
            if id == self.word:
                stack[-1][1].append(next(remaining))
            elif id in self.opens:
                stack.append((self.opens[id], []))
            else:
                label, children = stack.pop()
                stack[-1][1].append(Tree(label, tuple(children)))
        (tree,) = stack[-1][1]
        return tree

    def spell(self, ids: Sequence[int]) -> str:
        """Write ids for people."""
        return " ".join(
            WORD if id == self.word
            else f"({self.opens[id]}" if id in self.opens
            else f"){self.closes[id]}"
            for id in ids
        )  # fmt: skip


@dataclass(frozen=True)
class Half:
    """A tree that is half written."""

    words_left: int
    room: int
    """Ids that may still be written, the end aside."""
    stack: tuple[str, ...] = ()
    is_empty: bool = True
    """Whether nothing stands in the innermost bracket yet."""
    is_dead: bool = False
    """Whether it was gone on with in a way that leads nowhere; such rows are never found."""

    def after(self, id: int, alphabet: Alphabet) -> "Half":
        """Write one more id."""
        room = self.room - 1
        if id == BOS:
            return self
        if id == alphabet.word and self.stack and self.words_left:
            return replace(self, words_left=self.words_left - 1, room=room, is_empty=False)
        if id in alphabet.opens:
            stack = (*self.stack, alphabet.opens[id])
            return replace(self, stack=stack, room=room, is_empty=True)
        if self.stack and alphabet.closes.get(id) == self.stack[-1]:
            return replace(self, stack=self.stack[:-1], room=room, is_empty=False)
        return replace(self, is_dead=True)

    def choices(self) -> tuple[str | None, bool, bool]:
        """Return which label may be closed, whether a word may come, whether a bracket may open."""
        if self.is_dead or not (self.stack or self.words_left):
            return None, False, False
        innermost = self.stack[-1] if self.stack else None
        needed = self.words_left + len(self.stack)
        may_close = not self.is_empty and (len(self.stack) > 1 or not self.words_left)
        may_open = self.words_left > 0 and self.room >= needed + 2
        return innermost if may_close else None, bool(self.stack and self.words_left), may_open


@dataclass(frozen=True)
class WellFormed:
    """What a step remembers beside the network's own state."""

    inner: Any
    halves: tuple[Half, ...]

    def select(self, rows: Int[Tensor, " chosen"]) -> "WellFormed":
        """Keep the given rows, in the given order."""
        return WellFormed(self.inner.select(rows), tuple(self.halves[row] for row in rows.tolist()))


def well_formed(step: StepFunction, alphabet: Alphabet) -> StepFunction:
    """Let a step write only what can still become a tree over its words, within its room."""
    masks: dict[tuple[str | None, bool, bool], Bool[Tensor, " vocab"]] = {}
    openings = torch.tensor(sorted(alphabet.opens))

    def mask_of(choices: tuple[str | None, bool, bool]) -> Tensor:
        if choices not in masks:
            closed, may_write, may_open = choices
            mask = torch.zeros(alphabet.vocab_size, dtype=torch.bool)
            if closed:
                mask[alphabet.closing[closed]] = True
            if may_write:
                mask[alphabet.word] = True
            if may_open:
                mask[openings] = True
            mask[EOS] = not mask.any()
            masks[choices] = mask
        return masks[choices]

    def restricted(last: Tensor, state: WellFormed) -> tuple[Tensor, WellFormed]:
        log_probabilities, inner = step(last, state.inner)
        halves = tuple(
            half.after(id, alphabet) for half, id in zip(state.halves, last.tolist(), strict=True)
        )
        allowed = torch.stack([mask_of(half.choices()) for half in halves])
        return log_probabilities.masked_fill(~allowed, -torch.inf), WellFormed(inner, halves)

    return restricted
