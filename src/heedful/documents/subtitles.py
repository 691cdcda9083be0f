"""Subtitles, SRT and WebVTT: cues are translated whole, and keep their times and lines."""

import re
from collections.abc import Iterator

from heedful.documents.document import Passage, as_it_is, has_words

_LINE = re.compile(r"[^\r\n]*")
_TIMING = re.compile(r"\s*(?:\d+:)?\d+:\d\d[,.]\d+\s*-->")
_DIALOGUE = re.compile(r"\s*(?:<[^<>]*>)*[-–—]\s*\S")  # lines of different speakers


def find_cues(text: str) -> list[Passage]:
    """Find what is said: the lines between a timing and an empty line, joined."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    passages = []
    for lines in _cues(text):
        said = [text[start:end] for start, end in lines]
        if any(map(_DIALOGUE.match, said)):
            passages += [
                Passage(*line, spoken, as_it_is)
                for line, spoken in zip(lines, said, strict=True)
                if has_words(spoken)
            ]
        elif has_words("".join(said)):
            passages.append(_passage(lines, said, line_end))
    return passages


def _passage(lines: list[tuple[int, int]], said: list[str], line_end: str) -> Passage:
    def written(translation: str) -> str:
        return line_end.join(spread(translation, len(said)))

    joined = " ".join(map(str.strip, said))
    return Passage(lines[0][0], lines[-1][1], joined, written)


def _cues(text: str) -> Iterator[list[tuple[int, int]]]:
    """Give the ranges of the lines of each cue."""
    cue: list[tuple[int, int]] | None = None
    at = 0
    while at <= len(text):
        match = _LINE.match(text, at)
        assert match is not None  # of no length at least
        line = match.group()
        if _TIMING.match(line):
            if cue:
                yield cue
            cue = []
        elif cue is not None and line.strip():
            cue.append(match.span())
        elif cue is not None:
            if cue:
                yield cue
            cue = None
        at = match.end() + (2 if text.startswith("\r\n", match.end()) else 1)
    if cue:
        yield cue


def spread(text: str, count: int) -> list[str]:
    """Spread a text over so many lines, about as long as each other."""
    words, lines = text.split(" "), []
    for left in range(count, 1, -1):
        share = sum(map(len, words)) / left
        line: list[str] = []
        while words and (not line or sum(map(len, line)) + len(words[0]) / 2 <= share):
            line.append(words.pop(0))
        lines.append(" ".join(line))
    return [line for line in [*lines, " ".join(words)] if line]
