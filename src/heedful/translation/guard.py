"""Telling when a search went wrong: loops, and output of absurd length (degenerate output)."""

from collections.abc import Sequence
from typing import Literal

from heedful.decoding.hypothesis import Hypothesis

Alarm = Literal["repetition", "length"]

NO_REPEAT = 4  # pieces in a row that a second try may write only once

_LONGEST_LOOP = 12  # pieces that are looked at as one turn of a loop
_MOST_TURNS = 4  # as in "no, no, no, no"; a loop takes more, unless the source has them
_LONGER, _EXTRA = 3, 20  # output may have so many times the pieces of its source, and so many more


def alarm(source: Sequence[int], hypothesis: Hypothesis) -> Alarm | None:
    """Tell what is wrong with a hypothesis, if anything."""
    num_again = len(hypothesis.pieces) - len(set(hypothesis.pieces))
    if num_again >= _MOST_TURNS:  # else there is no loop, which is soon told
        turns = most_turns(hypothesis.pieces)
        if turns > _MOST_TURNS and turns > 2 * most_turns(source):
            return "repetition"
    is_absurd = not 0 < len(hypothesis.pieces) <= _LONGER * len(source) + _EXTRA
    return "length" if is_absurd or not hypothesis.is_finished else None


def most_turns(pieces: Sequence[int]) -> int:
    """Count how often the same pieces are written in a row, at most."""
    most = min(len(pieces), 1)
    for length in range(1, min(_LONGEST_LOOP, len(pieces) // 2) + 1):
        same = 0
        for at in range(length, len(pieces)):
            same = same + 1 if pieces[at] == pieces[at - length] else 0
            most = max(most, same // length + 1)
    return most
