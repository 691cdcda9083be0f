"""Counts what Python's regular expressions do, so that a test can say how it grows."""

import re
from collections.abc import Callable, Iterator, Sequence
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Then = Callable[[int], int | None]

_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_DIGIT: str.isdecimal,
    op.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
    op.CATEGORY_NOT_SPACE: lambda character: not character.isspace(),
    op.CATEGORY_NOT_DIGIT: lambda character: not character.isdecimal(),
    op.CATEGORY_NOT_WORD: lambda character: not (character.isalnum() or character == "_"),
}


class Counter:
    """A backtracking matcher that tries what Python's tries, and counts what it tries."""

    def __init__(self, pattern: re.Pattern[str], text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        self.tree = _parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
        self.is_folded = bool(pattern.flags & re.IGNORECASE)
        self.groups: dict[int, tuple[int, int]] = {}
        self.steps = 0

    def match(self, at: int, *, is_full: bool = False) -> int | None:
        """Return where a match that begins here ends."""
        self.groups = {}
        return self._then(self.tree, 0, at, lambda end: end if _ends(self, end, is_full) else None)

    def find(self) -> Iterator[tuple[int, int]]:
        """Give where matches begin and end."""
        at = self.start
        while at <= self.end:
            end = self.match(at)
            if end is not None:
                yield at, end
            at = at + 1 if end is None or end == at else end

    def _then(self, nodes: Sequence[Any], index: int, at: int, then: Then) -> int | None:
        if index == len(nodes):
            return then(at)
        self.steps += 1
        name, value = nodes[index]
        return self._node(name, value, at, lambda end: self._then(nodes, index + 1, end, then))

    def _node(self, name: Any, value: Any, at: int, then: Then) -> int | None:
        if name in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY):
            return then(at + 1) if at < self.end and self._is(name, value, at) else None
        if name is op.BRANCH:
            ends = (self._then(branch, 0, at, then) for branch in value[1])
            return next((end for end in ends if end is not None), None)
        if name is op.SUBPATTERN:
            return self._group(*value, at, then)
        if name is op.ATOMIC_GROUP:
            end = self._then(value, 0, at, int)
            return None if end is None else then(end)
        if name in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            return self._repeat(name, *value, at, then)
        if name in (op.ASSERT, op.ASSERT_NOT):
            return then(at) if self._is_beside(*value, at) is (name is op.ASSERT) else None
        if name is op.GROUPREF:
            return self._again(value, at, then)
        return then(at) if self._is_place(value, at) else None

    def _group(
        self, group: int | None, add: int, _: int, nodes: Any, at: int, then: Then
    ) -> int | None:
        before, folded = self.groups.get(group or 0), self.is_folded

        def close(end: int) -> int | None:
            self.is_folded = folded
            if group is not None:
                self.groups[group] = at, end
            found = then(end)
            if found is None:
                self.is_folded = folded or bool(add & re.IGNORECASE)
                self.groups.pop(group or 0, None)
                if before:
                    self.groups[group or 0] = before
            return found

        self.is_folded = folded or bool(add & re.IGNORECASE)
        found = self._then(nodes, 0, at, close)
        self.is_folded = folded
        return found

    def _repeat(
        self, name: Any, least: int, most: int, nodes: Any, at: int, then: Then
    ) -> int | None:
        if name is op.POSSESSIVE_REPEAT or (name is op.MAX_REPEAT and nodes.getwidth() == (1, 1)):
            ends = [at]
            while len(ends) <= most:
                end = self._then(nodes, 0, ends[-1], int)
                if end is None or end == ends[-1]:
                    break
                ends.append(end)
            tried = ends[least:][::-1] if name is op.MAX_REPEAT else ends[least:][-1:]
            found = (self._counted(then, end) for end in tried)
            return next((end for end in found if end is not None), None)

        def turn(place: int, done: int) -> int | None:
            def again() -> int | None:
                def more(end: int) -> int | None:
                    return turn(end, done + 1) if end > place or done < least else None

                return self._then(nodes, 0, place, more) if done < most else None

            ways = [lambda: then(place) if done >= least else None, again]
            found = (way() for way in (ways if name is op.MIN_REPEAT else ways[::-1]))
            return next((end for end in found if end is not None), None)

        return turn(at, 0)

    def _counted(self, then: Then, at: int) -> int | None:
        self.steps += 1
        return then(at)

    def _is_beside(self, direction: int, nodes: Any, at: int) -> bool:
        begin = at if direction > 0 else at - nodes.getwidth()[0]
        return begin >= 0 and self._then(nodes, 0, begin, int) is not None

    def _again(self, group: int, at: int, then: Then) -> int | None:
        if group not in self.groups:
            return None
        same = self.text[slice(*self.groups[group])]
        return then(at + len(same)) if self.text.startswith(same, at, self.end) else None

    def _is_place(self, place: Any, at: int) -> bool:
        if place in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return at == 0
        if place is op.AT_END:
            return at == self.end or (at == self.end - 1 and self.text[at] == "\n")
        is_word = _CATEGORIES[op.CATEGORY_WORD]
        sides = [0 <= side < self.end and is_word(self.text[side]) for side in (at - 1, at)]
        return (sides[0] != sides[1]) is (place is op.AT_BOUNDARY)

    def _is(self, name: Any, value: Any, at: int) -> bool:
        character = self.text[at]
        if name is op.ANY:
            return True  # all of ours say DOTALL where they say `.`
        forms = {character, character.lower(), character.upper()} if self.is_folded else [character]
        if name is not op.IN:
            return any(ord(form) == value for form in forms) is (name is op.LITERAL)
        is_negated = value[0][0] is op.NEGATE
        return any(_is_in(form, value[is_negated:]) for form in forms) is not is_negated


def _ends(counter: Counter, end: int, is_full: bool) -> bool:
    return not is_full or end == counter.end


def _is_in(character: str, members: Any) -> bool:
    return len(character) == 1 and any(
        (name is op.LITERAL and ord(character) == value)
        or (name is op.RANGE and value[0] <= ord(character) <= value[1])
        or (name is op.CATEGORY and _CATEGORIES[value](character))
        for name, value in members
    )


class Counted:
    """A pattern that counts in `steps` what it costs to look for it, and finds what it does."""

    steps = 0

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.real = pattern

    def _count(self, text: str, start: int, end: int, real: Any, most: int | None) -> Any:
        counter = Counter(self.real, text, start, min(end, len(text)))
        spans = []
        for span in counter.find():
            spans.append(span)
            if len(spans) == most:
                break
        Counted.steps += counter.steps
        found = [match.span() for match in self.real.finditer(text, start, end)]
        assert spans == found[:most], (self.real.pattern, text)
        return real

    def finditer(self, text: str, start: int = 0, end: int = 1 << 60) -> Any:
        return self._count(text, start, end, self.real.finditer(text, start, end), None)

    def search(self, text: str, start: int = 0, end: int = 1 << 60) -> Any:
        return self._count(text, start, end, self.real.search(text, start, end), 1)

    def findall(self, text: str) -> Any:
        return self._count(text, 0, len(text), self.real.findall(text), None)

    def split(self, text: str) -> Any:
        return self._count(text, 0, len(text), self.real.split(text), None)

    def sub(self, new: Any, text: str) -> Any:
        return self._count(text, 0, len(text), self.real.sub(new, text), None)

    def match(self, text: str, start: int = 0) -> Any:
        return self._at(text, start, self.real.match(text, start), is_full=False)

    def fullmatch(self, text: str) -> Any:
        return self._at(text, 0, self.real.fullmatch(text), is_full=True)

    def _at(self, text: str, start: int, real: re.Match[str] | None, *, is_full: bool) -> Any:
        counter = Counter(self.real, text, start, len(text))
        assert counter.match(start, is_full=is_full) == (real and real.end())
        Counted.steps += counter.steps
        return real
