"""A glossary: terms that must be translated so, or not at all."""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

from heedful.errors import CorpusError
from heedful.text.invisible import without_invisible
from heedful.text.lines import read_lines
from heedful.text.markup import take_out
from heedful.text.normalise import normalise, refuse_halves, refuse_no_text
from heedful.text.spans import Span, find_copies
from heedful.text.words import whole_words


class Glossary:
    """Source terms with what must stand for them; a term that must stay stands for itself."""

    def __init__(self, terms: Mapping[str, str]) -> None:
        for term in chain(*terms.items()):
            refuse_no_text(term)
            refuse_halves(term)
        for source in terms:
            _refuse_what_is_not_read(source)
        kept = {_as_read(source): normalise(target) for source, target in terms.items()}
        self.terms = {source: target or source for source, target in kept.items() if source}
        self._pattern = whole_words(self.terms)

    def find(self, text: str) -> list[Span]:
        """Find the terms of a text as whole words, the longest first; capitals matter."""
        if not self.terms:
            return []
        return [
            Span(match.start(), match.end(), self.terms[match.group()], "term")
            for match in self._pattern.finditer(text)
        ]


def _as_read(term: str) -> str:
    return normalise(without_invisible(term))


def _refuse_what_is_not_read(term: str) -> None:
    """Refuse a term that would never be found, since it is taken out of what is translated."""
    bare, marks = take_out(_as_read(term))
    if marks or find_copies(bare):
        found = marks[0].text if marks else find_copies(bare)[0].text
        raise CorpusError(
            f"glossary, '{term}': {found} stays as it is in any translation, so no term can "
            "have it; take the entry out"
        )


def read_glossary(path: Path) -> Glossary:
    """Read a TSV of source and target terms; without a target, the term stays as it is."""
    return Glossary(dict(_read_terms(path)))


def _read_terms(path: Path) -> Iterable[tuple[str, str]]:
    first_lines: dict[str, int] = {}
    for number, line in enumerate(read_lines(path), start=1):
        if not normalise(line):
            continue
        source, *targets = line.split("\t")
        if not normalise(source):
            raise CorpusError(
                f"{path}, line {number}: no term before the tab; write source<TAB>target"
            )
        if len(targets) > 1:
            raise CorpusError(
                f"{path}, line {number}: expected source and target joined by one tab, "
                f"found {len(targets)} tabs"
            )
        if normalise(source) in first_lines:
            raise CorpusError(
                f"{path}, line {number}: '{normalise(source)}' stands already in line "
                f"{first_lines[normalise(source)]}; keep one of them"
            )
        first_lines[normalise(source)] = number
        yield source, targets[0] if targets else ""
