"""A sentence made ready for the search, and its translation made good afterwards."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from heedful.text.case import Case, as_sentence, carry_over, find_case, without_strange_capitals
from heedful.text.glossary import Glossary
from heedful.text.invisible import without_invisible
from heedful.text.markup import Element, Mark, put_back, read_elements, take_out
from heedful.text.normalise import normalise
from heedful.text.numbers import find_numbers
from heedful.text.spans import Span, find_copies, find_unreadable, is_accent, without_overlaps
from heedful.text.tokenizer import Tokenizer
from heedful.text.words import Word, find_words
from heedful.translation.restore import find_missing, restore


class Draft(NamedTuple):
    """What the model reads of a sentence, and what its translation has to keep."""

    shown: str
    """The sentence without tags, in ordinary case."""
    bare: str
    """The same as it was written."""
    tags: Element
    spans: tuple[Span, ...]
    """What has to stand in the translation, by its place in the sentence."""
    case: Case | None
    """The case that the translation is to be put in."""
    typed: Mapping[int, str]
    """How spans that are copied were typed, by their place, before white space was folded."""
    strange: frozenset[str] = frozenset()
    """Letters among known ones that the model reads byte by byte, and may not write."""

    def needs_links(self, text: str) -> bool:
        """Whether it must be known which word of a translation translates which."""
        return bool(self.tags.parts or find_missing(text, self.spans))

    @property
    def is_plain(self) -> bool:
        """Whether its translation is good as it is found."""
        return not (self.tags.parts or self.spans or self.case)

    def finish(self, words: Sequence[Word]) -> str | None:
        """Put back what the translation has to keep; None if there is no telling where."""
        restored = restore(words, self.spans, self.bare)
        return None if restored is None else self.write(restored)

    def has_lost_letters(self, text: str) -> bool:
        """Whether a translation lacks a strange letter, in capitals or not."""
        return any(letter.lower() not in text.lower() for letter in self.strange)

    def write(self, words: Sequence[Word]) -> str:
        """Write words that have all they need in the case and with the tags of the source."""
        if self.case:
            words = carry_over(words, self.case)
        if self.typed:
            words = [self._as_typed(word) for word in words]
        return put_back(words, self.tags, [start for start, _ in find_words(self.bare)])

    def _as_typed(self, word: Word) -> Word:
        if not word.is_fixed or word.source is None:
            return word
        return word._replace(text=self.typed.get(word.source, word.text))


def drafts_of(sentence: str, tokenizer: Tokenizer, glossary: Glossary) -> list[Draft]:
    """Make a sentence ready, in two ways where only the model can tell which is better.

    There is none if the sentence has nothing to translate, or nothing that can be read.
    """
    sentence = without_invisible(sentence)
    bare, marks = take_out(normalise(sentence))
    copies = find_copies(bare)
    marks, typed = _as_typed(sentence, marks, copies)
    readable = without_strange_capitals(bare, tokenizer.knows)
    unknown = tokenizer.unknown_characters(readable)
    spans = without_overlaps(
        [
            *(copy for copy in copies if not _is_known_quote(copy.text, tokenizer)),
            *glossary.find(bare),
            *(_readable(number, unknown) for number in find_numbers(bare)),
            *find_unreadable(readable, unknown),
        ]
    )
    to_translate = _without_copies(bare, spans)
    has_terms = any(span.kind == "term" for span in spans)
    is_lost = is_unreadable(sentence, tokenizer) and not has_terms
    if is_lost or not any(map(str.isalnum, to_translate)):
        return []
    as_written = Draft(
        shown=_with_spans(readable, bare, spans),
        bare=bare,
        tags=read_elements(marks, find_words(bare) if marks else (), len(bare)),
        spans=tuple(spans),
        case=None,
        typed=typed,
        strange=frozenset(it for it in unknown if _is_in_words(it) and it in to_translate),
    )
    case = find_case(to_translate)
    if not case:
        return [as_written]
    readable = without_strange_capitals(as_sentence(bare), tokenizer.knows)
    ordinary = as_written._replace(shown=_with_spans(readable, bare, spans), case=case)
    # Capitals may begin words because it is a title, or because they are names.
    could_be_names = case == "title" and as_written.shown != ordinary.shown
    return [ordinary, as_written] if could_be_names else [ordinary]


def without_tags(sentence: str) -> str:
    """Return the words of a sentence, which tags and pictures are not."""
    return take_out(normalise(sentence))[0]


def as_read(bare: str, tokenizer: Tokenizer) -> str:
    """Write the words of a sentence as a model reads them: in ordinary case, and as long."""
    is_upper = find_case(_without_copies(bare, find_copies(bare))) == "upper"
    return without_strange_capitals(as_sentence(bare) if is_upper else bare, tokenizer.knows)


def is_unreadable(sentence: str, tokenizer: Tokenizer) -> bool:
    """Whether a sentence has letters, and the vocabulary knows none of them."""
    bare = without_tags(without_invisible(sentence))
    letters = [it for it in _without_copies(bare, find_copies(bare)) if it.isalpha()]
    return bool(letters) and not any(
        tokenizer.knows(it) or tokenizer.knows(it.lower()) for it in letters
    )


def _as_typed(
    sentence: str, marks: list[Mark], copies: Sequence[Span]
) -> tuple[list[Mark], Mapping[int, str]]:
    """Return tags, and the texts of copies by their place, as before white space was folded."""
    if not (marks or copies) or normalise(sentence) == sentence:
        return marks, {}
    bare, typed_marks = take_out(sentence)
    texts = _texts(marks, typed_marks), _texts(copies, find_copies(bare))
    typed = {copy.start: text for copy, text in zip(copies, texts[1], strict=True)}
    return [m._replace(text=text) for m, text in zip(marks, texts[0], strict=True)], typed


def _texts(found: Sequence[Mark | Span], as_typed: Sequence[Mark | Span]) -> list[str]:
    """Return what was found as it was typed, if the same was found there."""
    return [each.text for each in (as_typed if len(as_typed) == len(found) else found)]


def _is_known_quote(copy: str, tokenizer: Tokenizer) -> bool:
    """Whether it is a mark that a model learned to translate, from a corpus that spells it so."""
    return copy in ("&apos;", "&quot;") and tokenizer.knows(copy[1:-1])


def _is_in_words(character: str) -> bool:
    return character.isalpha() or is_accent(character)


def _readable(number: Span, unknown: set[str]) -> Span:
    """Copy a number as it is if it has a sign that a vocabulary does not know, as in -€5."""
    return number if unknown.isdisjoint(number.text) else number._replace(kind="copy")


def _without_copies(bare: str, spans: Sequence[Span]) -> str:
    """Blank out what is copied, to see what is left to translate."""
    for span in spans:
        if span.kind == "copy":
            bare = bare[: span.start] + " " * (span.end - span.start) + bare[span.end :]
    return bare


def _with_spans(shown: str, bare: str, spans: Sequence[Span]) -> str:
    """Show what must stay as it is written, in capitals or not."""
    for span in spans:
        shown = shown[: span.start] + bare[span.start : span.end] + shown[span.end :]
    return shown
