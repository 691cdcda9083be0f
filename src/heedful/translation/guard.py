"""Telling when a search went wrong: loops, and output of absurd length (degenerate output)."""

from collections.abc import Iterable, Sequence
from typing import Literal

from heedful.decoding.hypothesis import Hypothesis
from heedful.storage.habits import Habits

Alarm = Literal["repetition", "length"]

NO_REPEAT = 4  # pieces in a row that a second try may write only once
USUAL_HABITS = Habits()

_LONGEST_LOOP = 12  # pieces that are looked at as one turn of a loop
_EXTRA = 20  # pieces that output may have more than the habit says
_NOISE = 1_000  # of so many training pairs one may be noise


def alarm(
    source: Sequence[int], hypothesis: Hypothesis, habits: Habits = USUAL_HABITS
) -> Alarm | None:
    """Tell what is wrong with a hypothesis, if anything: what goes beyond the habits."""
    if _may_turn(hypothesis.pieces, habits.most_turns):
        turns = most_turns(hypothesis.pieces)
        if turns > habits.most_turns and turns > 2 * most_turns(source):
            return "repetition"
    longest = habits.longest_ratio * len(source) + _EXTRA
    is_absurd = not 0 < len(hypothesis.pieces) <= longest
    return "length" if is_absurd or not hypothesis.is_finished else None


def has_score(hypothesis: Hypothesis) -> bool:
    """Whether it is a translation at all: what is empty, or never ended, is none."""
    return bool(hypothesis.pieces) and hypothesis.is_finished


def habits_of(pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Habits:
    """Learn what is normal from training pairs, some noise aside; never less than is usual."""
    turns, ratios = list[float](), list[float]()
    for source, target in pairs:
        is_turning = _may_turn(target, USUAL_HABITS.most_turns)
        turns.append(float(most_turns(target)) if is_turning else 0.0)
        ratios.append((len(target) - _EXTRA) / max(len(source), 1))
    return Habits(
        most_turns=max(USUAL_HABITS.most_turns, int(_but_for_noise(turns))),
        longest_ratio=round(max(USUAL_HABITS.longest_ratio, _but_for_noise(ratios)), 3),
    )


def most_turns(pieces: Sequence[int]) -> int:
    """Count how often the same pieces are written in a row, at most."""
    most = min(len(pieces), 1)
    for length in range(1, min(_LONGEST_LOOP, len(pieces) // 2) + 1):
        same = 0
        for at in range(length, len(pieces)):
            same = same + 1 if pieces[at] == pieces[at - length] else 0
            most = max(most, same // length + 1)
    return most


def _may_turn(pieces: Sequence[int], turns: int) -> bool:
    """Whether pieces are there often enough to turn more often than that, which is soon told."""
    return len(pieces) - len(set(pieces)) >= turns


def _but_for_noise(values: Sequence[float]) -> float:
    """Return the value that one in a thousand exceeds."""
    return sorted(values)[-1 - len(values) // _NOISE] if values else 0.0
