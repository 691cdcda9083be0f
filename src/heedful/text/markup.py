"""Tags are taken out of a sentence before it is translated, and put back around the right words."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from heedful.text.spans import find_copies, find_tags
from heedful.text.words import Word, are_words, best_run

_NAME = r"<(/?)([A-Za-z][^\s<>/]*)"
_VOID = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "wbr",
}
_PICTURE = (
    "[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u2bff\ue000-\uf8ff\U0001f000-\U0001faff]"
)
_PICTURES = (
    f"{_PICTURE}(?:{_PICTURE}|[\u200d\ufe0e\ufe0f\u20e3\U000e0020-\U000e007f])*"
    "|[0-9#*]\ufe0f?\u20e3|(?:[^\\w\\s]|[\\dℹ])\ufe0f"  # keycaps, signs to be shown as pictures
)
_ISOLATES, _END_OF_ISOLATE = "\u2066\u2067\u2068", "\u2069"
_EMBEDDINGS, _END_OF_EMBEDDING = "\u202a\u202b\u202d\u202e", "\u202c"
_DIRECTIONS = _ISOLATES + _END_OF_ISOLATE + _EMBEDDINGS + _END_OF_EMBEDDING
_TOUCHING = "\n"  # between words that only marks set apart; read as a space, written as none

Run = tuple[int, int]


class Mark(NamedTuple):
    """Something taken out of a text: a tag, a direction, or a picture such as an emoji."""

    at: int
    """The position where it stood in what is left of the text."""
    text: str
    spaced: tuple[bool, bool]
    """Whether there was a space before it, and after it."""
    is_touching: bool = False
    """Whether it alone sets the word before it apart from the word after it."""


@dataclass
class Element:
    """What stands between an opening and a closing tag, in positions of the bare text."""

    opening: str
    start: int
    end: int
    closing: str = ""
    spaced: tuple[bool, bool] = (False, False)
    is_touching: bool = False
    parts: list["Element"] = field(default_factory=list)

    def __str__(self) -> str:
        return self.opening + "".join(map(str, self.parts)) + self.closing


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def find_pictures(text: str) -> Iterator[re.Match[str]]:
    """Find emoji, and what else is a picture, with all that belongs to each."""
    return iter(()) if text.isascii() else _compiled(_PICTURES).finditer(text)


def take_out(text: str) -> tuple[str, list[Mark]]:
    """Return a text without tags, directions and pictures, and what was taken out."""
    found = [*find_tags(text), *find_pictures(text)]
    if not text.isascii():
        found += _compiled(f"[{_DIRECTIONS}]").finditer(text)
    copies = find_copies(text) if found else []
    bare, at = "", 0
    marks: list[Mark] = []
    side_by_side: list[Mark] = []
    for match in sorted(found, key=lambda match: match.start()):
        if match.start() < at or any(
            copy.start <= match.start() and match.end() <= copy.end for copy in copies
        ):
            continue  # inside a tag, or an address
        if part := text[at : match.start()]:
            bare, set_apart = _set_apart(bare, side_by_side, part)
            marks += set_apart
            side_by_side = []
        before = not bare or bare[-1] == " "
        after = text[match.end() : match.end() + 1] in ("", " ")
        side_by_side.append(Mark(len(bare), match.group(), (before, after)))
        at = match.end() + (before and after)
    bare, set_apart = _set_apart(bare, side_by_side, text[at:])
    return bare.rstrip(" "), marks + set_apart


def _set_apart(bare: str, marks: list[Mark], part: str) -> tuple[str, list[Mark]]:
    """Go on with the part after some marks, and keep words apart that only they set apart."""
    kinds = [_kind(mark.text) for mark in marks]
    closing = [place for place, (is_closing, _) in enumerate(kinds) if is_closing]
    later = closing[-1] + 1 if closing else 0
    is_between = any(name and not is_closing for is_closing, name in kinds[later:]) and closing
    things = [place for place, mark in enumerate(marks) if _is_thing(mark)]
    if not (is_between or things) or not are_words(bare[-1:], part[:1]):
        return bare + part, marks
    apart = [*marks[:later], *(mark._replace(at=mark.at + 1) for mark in marks[later:])]
    first = later if later < len(marks) else things[-1]
    apart[first] = apart[first]._replace(is_touching=True)
    return bare + _TOUCHING + part, apart


def _is_thing(mark: Mark) -> bool:
    """Whether it is something between words, such as a picture, and no tag around some."""
    stands_alone = not _kind(mark.text)[1] and not mark.text.startswith(("<!", "<?", "</"))
    return stands_alone and not mark.text.lower().startswith("<wbr")


def read_elements(marks: Iterable[Mark], words: Sequence[Run], length: int) -> Element:
    """Pair opening tags with closing ones, inside one element that is the whole text.

    A tag without a partner reaches to the edge, one that opens inside a word to its beginning.
    """
    stack = [Element("", 0, length)]
    for mark in marks:
        is_closing, name = _kind(mark.text)
        if name and not is_closing:
            at = next((start for start, end in words if start < mark.at < end), mark.at)
            opened_here = Element(mark.text, at, length, is_touching=mark.is_touching)
            stack[-1].parts.append(opened_here)
            stack.append(opened_here)
            continue
        opened = [level for level, e in enumerate(stack) if _kind(e.opening)[1] == name]
        if is_closing and name and opened:
            while len(stack) > opened[-1]:
                element = stack.pop()
                element.end = mark.at
            element.closing = mark.text
        elif is_closing:
            stack[-1].parts = [
                Element("", stack[-1].start, mark.at, closing=mark.text, parts=stack[-1].parts)
            ]
        else:
            stack[-1].parts.append(
                Element(
                    *(mark.text, mark.at, mark.at),
                    spaced=mark.spaced,
                    is_touching=mark.is_touching,
                )
            )
    return stack[0]


def _kind(tag: str) -> tuple[bool, str]:
    """Whether a tag or a direction closes, and its name; what stands alone has none."""
    if tag in _DIRECTIONS:
        is_isolate = tag in _ISOLATES + _END_OF_ISOLATE
        is_end = tag in _END_OF_ISOLATE + _END_OF_EMBEDDING
        return is_end, "isolate" if is_isolate else "embedding"
    match = _compiled(_NAME).match(tag)
    if not match or tag.endswith("/>") or match[2].lower() in _VOID:
        return False, ""
    return bool(match[1]), match[2].lower()


def put_back(words: Sequence[Word], whole: Element, source_words: Sequence[int]) -> str:
    """Write words with their tags, each around the words that translate what it was around.

    Tags nest as they did in the source, whatever became of the order of the words. The source
    words are given by where they begin.
    """
    placing = _Placing(words, source_words)
    placing.place(whole, (0, len(words)))
    return placing.written()


class _Placing:
    """Decides what is written before and after each word."""

    def __init__(self, words: Sequence[Word], source_words: Sequence[int]) -> None:
        self.words, self.source_words = words, source_words
        self.before: list[str] = [""] * (len(words) + 1)
        self.after: list[str] = [""] * (len(words) + 1)
        self.touching: set[int] = set()

    def place(self, parent: Element, within: Run) -> None:
        """Find a run of words for every part of an element, inside the run of its own."""
        taken: list[Run] = []
        runs: dict[int, Run] = {}
        for index, part in enumerate(parent.parts):
            run = self._run(part, parent, within, taken)
            if run[0] < run[1]:
                runs[index] = run
                taken.append(run)
        for index, part in enumerate(parent.parts):
            if index not in runs:
                at = self._boundary(part.start, parent, within)
                at = next((end for start, end in taken if start < at < end), at)
                runs[index] = at, at
        for index, run in sorted(runs.items(), key=lambda item: (item[1], item[0])):
            self._write(parent.parts[index], run, within)
            if parent.parts[index].is_touching:
                self._keep_touching(run, runs.get(index - 1, run))

    def written(self) -> str:
        """Join the words and all that was placed between them."""
        gaps = [
            "" if index in self.touching else word.gap.replace(_TOUCHING, "")
            for index, word in enumerate(self.words)
        ]
        rows = zip(self.words, self.after, gaps, self.before, strict=False)
        text = "".join(after + gap + before + word.text for word, after, gap, before in rows)
        return text + self.after[-1] + self.before[-1]

    def _run(self, part: Element, parent: Element, within: Run, taken: list[Run]) -> Run:
        """Find the run of words that translates a part; empty if there is none."""
        covered = self._covered(part)
        if covered and covered == self._covered(parent) and not taken:
            return within
        values = [_belonging(word.source, part) for word in self.words[slice(*within)]]
        for start, end in taken:
            values[start - within[0] : end - within[0]] = [-math.inf] * (end - start)
        start, end = best_run(values)
        return within[0] + start, within[0] + end

    def _keep_touching(self, run: Run, before: Run) -> None:
        """Write no space where two elements that touched in the source do so again."""
        if run[0] == run[1] or before[1] == run[0]:
            self.touching.add(run[0])
        elif run[1] == before[0]:
            self.touching.add(before[0])

    def _covered(self, element: Element) -> list[int]:
        return [at for at in self.source_words if element.start <= at < element.end]

    def _boundary(self, at: int, parent: Element, within: Run) -> int:
        """Find the place for what had no words: before the translation of the word after it."""
        if not any(word < at for word in self._covered(parent)):
            return within[0]
        following = [
            (word.source, index)
            for index, word in enumerate(self.words[slice(*within)], start=within[0])
            if word.source is not None and at <= word.source < parent.end
        ]
        return min(following)[1] if following else within[1]

    def _write(self, element: Element, run: Run, within: Run) -> None:
        start, end = run
        if start < end:
            self.before[start] += element.opening
            self.place(element, run)
            self.after[end] += element.closing
        elif end == within[1]:
            self.after[end] += " " * element.spaced[0] + str(element)
        elif element.spaced == (False, True) and start > within[0]:
            self.after[start] += str(element)
        else:
            self.before[start] += str(element) + " " * element.spaced[1]


def _belonging(source: int | None, element: Element) -> float:
    if source is None:
        return 0.0
    return 1.0 if element.start <= source < element.end else -1.0
