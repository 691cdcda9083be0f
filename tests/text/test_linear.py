"""No line can stop everything: what is done for a text grows with its length and no faster."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from heedful.text import (
    case,
    glossary,
    invisible,
    markup,
    normalise,
    numbers,
    sentences,
    spans,
    words,
)
from heedful.text.tokenizer import TokenizerConfig, train_tokenizer
from tests.text.counting import Counted

UNITS = [
    *["0", "1 ", "1 000", "100 ", "1,1", "1.1", "1/1", "1-1", "1:1", "+1", "+1 (", "1\u00a01"],
    *["T00:", "2021-05-03", "§", "v1", "-", "-$", "½", "%0", "%(a)0", "%", "{", "{{", "{a{"],
    *["{a,plural ", "{a,plural {", "$", "\\n", "&", "&#", "&a;", "#", "#0", "@", "a@", "a@b."],
    *["http://", "http://(", "http://.", "http://{", "http://x.y/<a", "www.", "www.a.", "<"],
    *["<a ", "<a '", "<!--", "<!-- x ", "<%", "</", "<b>", "<b></b>", "a", "Ab ", "A ", "x. "],
    *[".", "...", ".'", "。」", "  ", " ", "\t", "\n", "\x01a", "\u2028", "a\u3000", ", ", "'"],
    *["e\u0301", "\u0316\u0301", "\u0f73", "\u0344", "😀", "😀\u200d", "a\ufe0f", "1\u20e3"],
    *["\u200b", "a\u200b", "\u00ad", "\u2067", "\u2069", "你", "你1", "м ", "м", "▁", "€"],
]
BEGINNINGS = ["", "%(a)", "http://x", "{a,plural "]
TERMS = glossary.Glossary({"a b": "c", "a": "", "你": "x", "。": "."})
TOKENIZER = train_tokenizer(lambda: iter(["a b 0 1 http www"] * 9), TokenizerConfig())
LACKING = [spans.Span(0, 2, "15", "number")]
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "tags": lambda text: list(spans.find_tags(text)),
    "copies": spans.find_copies,
    "unreadable": lambda text: spans.find_unreadable(text, set("м€0\u0301")),
    "numbers": numbers.find_numbers,
    "missing numbers": lambda text: numbers.missing_numbers(text, LACKING),
    "cut": lambda text: sentences.cut_text(text, 5),
    "words": words.find_words,
    "pictures": lambda text: list(markup.find_pictures(text)),
    "invisible": invisible.without_invisible,
    "case": case.find_case,
    "normalise": normalise.normalise,
    "halves": normalise.refuse_halves,
    "terms": TERMS.find,
}
PATTERNS = [
    *[(module, "_compiled") for module in (spans, numbers, sentences, markup)],
    *[(words, "_pattern"), (invisible, "_pattern"), (case, "_small_word")],
]


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every pattern count its steps."""
    really = re.compile
    limit = sys.getrecursionlimit()
    with monkeypatch.context() as patch:
        for module, name in PATTERNS:
            patch.setattr(module, name, counted(getattr(module, name)))
        patch.setattr(normalise, "_SPACES", Counted(normalise._SPACES))
        patch.setattr(normalise, "_SURROGATES", Counted(normalise._SURROGATES))
        patch.setattr(TERMS, "_pattern", Counted(TERMS._pattern))
        patch.setattr(re, "finditer", lambda p, text: Counted(really(p)).finditer(text))
        sys.setrecursionlimit(100_000)
        yield
    sys.setrecursionlimit(limit)


def counted(compiled: Callable[..., re.Pattern[str]]) -> Callable[..., Counted]:
    return lambda *pattern: Counted(compiled(*pattern))


def steps(find: Callable[[str], object], text: str) -> int:
    Counted.steps = 0
    find(text)
    return Counted.steps


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_patterns_try_four_times_as_much_for_four_times_the_text(monkeypatch, name):
    with counting(monkeypatch):
        for unit in UNITS:
            for begin in BEGINNINGS:
                once, four_times = (
                    steps(FUNCTIONS[name], begin + unit * (size // len(unit))) for size in (40, 160)
                )

                assert four_times < 6 * once + 400, (unit, begin)


def test_the_count_tells_a_pattern_that_grows_with_the_square():
    square = Counted(re.compile(r"%[#0]*\d*x"))

    counts = [steps(square.search, "%" + "0" * size) for size in (90, 180, 360)]

    assert counts[1] > 3.5 * counts[0]
    assert counts[2] > 3.5 * counts[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["0", "1 000 ", "%0", "{a,plural ", "<a '", "\u0316\u0301", "\u0f73", "▁", "a\u200b", "😀b"],
)
def test_a_megabyte_of_anything_is_done_with_in_time(unit):
    # Were anything quadratic, this would take hours, and pytest ends a test after ten minutes.
    # In a process of its own, where types are not checked at every call.
    subprocess.run([sys.executable, "-c", MEGABYTE, unit], check=True)


MEGABYTE = """
import sys
from tests.text.test_linear import FUNCTIONS, TOKENIZER, sentences

text = "%(a)" + sys.argv[1] * (1_000_000 // len(sys.argv[1].encode()))
others = (sentences.cut_text, TOKENIZER.encode, TOKENIZER.unknown_characters)
for find in (*FUNCTIONS.values(), *others):
    find(text)
"""
