"""Whether what is added to a sentence costs it a word: addresses, placeholders, numbers, tags.

Sentences that a model translates exactly right are translated once more with something added. Words
are compared as they are spelt, capitals and marks aside, and each must be there as often.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from heedful.data.corpus import read_pairs
from heedful.data.embedded import generate
from heedful.storage.languages import Direction
from heedful.text.words import find_words
from heedful.translation.translator import Translator, load

_MOST = 400  # sentences
_TAG = re.compile(r"</?[a-z]+ ?/?>")


@dataclass(frozen=True)
class Addition:
    """Something that is added to a sentence, and must be in its translation."""

    name: str
    kept: str
    add: Callable[[str], str]


@dataclass(frozen=True)
class Count:
    """What became of the sentences to which something was added."""

    whole: int
    flagged: int
    silent: int
    """Lost a word, or what was added, and no flag says so."""


def _between(text: str) -> Callable[[str], str]:
    return lambda sentence: sentence.replace(" ", f" {text} ", 1)


ADDITIONS = (
    Addition("an address after", "https://x.org/a", lambda it: f"{it} https://x.org/a"),
    Addition("an address before", "https://x.org/a", lambda it: f"https://x.org/a {it}"),
    Addition("an address between", "https://x.org/a", _between("https://x.org/a")),
    Addition("an address in brackets", "www.x.org", lambda it: f"{it} (www.x.org)"),
    Addition("a placeholder before", "{name}", lambda it: f"{{name}}, {it}"),
    Addition("a placeholder between", "{name}", _between("{name}")),
    Addition("a number after", "2021", lambda it: f"{it} 2021"),
    Addition("a number after a comma", "47", lambda it: f"{it}, 47"),
    Addition("a number before a colon", "350", lambda it: f"350: {it}"),
    Addition("a number between", "47", _between("47")),
    Addition("tags around all", "<b>", lambda it: f"<b>{it}</b>"),
    Addition("tags around a word", "<b>", lambda it: "<b>" + it.replace(" ", "</b> ", 1)),
    Addition("a tag after", "<br/>", lambda it: f"{it} <br/>"),
)


def right_ones(translator: Translator, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Choose sentences of several words that are translated as one of their references."""
    references: dict[str, set[str]] = {}
    for source, target in pairs:
        if " " in source:
            references.setdefault(source, set()).add(target)
    found = translator.translate(list(references))
    right = [(it.source, it.text) for it in found if it.text in references[it.source]]
    return dict(right[:_MOST])


def count_words_kept(translator: Translator, right: dict[str, str], addition: Addition) -> Count:
    """Translate with the addition, and count what is whole, flagged, or neither."""
    whole = flagged = silent = 0
    found = translator.translate([addition.add(source) for source in right])
    for alone, translation in zip(right.values(), found, strict=True):
        wanted = _words(alone) + _words(addition.kept)
        if addition.kept in translation.text and wanted <= _words(translation.text):
            whole += 1
        elif translation.flags:
            flagged += 1
        else:
            silent += 1
    return Count(whole, flagged, silent)


def table(translator: Translator, right: dict[str, str]) -> str:
    """Lay out what becomes of the sentences by what was added."""
    lines = [
        f"| added to {len(right)} sentences | every word kept | lost, flagged | lost in silence |",
        "|---|---|---|---|",
    ]
    for addition in ADDITIONS:
        count = count_words_kept(translator, right, addition)
        share = count.whole / max(len(right), 1)
        lines.append(f"| {addition.name} | {share:.1%} | {count.flagged} | {count.silent} |")
    return "\n".join(lines)


def _words(text: str) -> Counter[str]:
    bare = _TAG.sub(" ", text)
    spelt = (bare[start:end].casefold() for start, end in find_words(bare))
    return Counter(filter(str.isalnum, spelt))


def main(arguments: Sequence[str]) -> None:
    """Print the table: MODEL, a TSV of pairs unless it is the demo's, and a way such as en-fr."""
    model, file, way = (*arguments, "", "")[:3]
    if file:
        pairs = list(read_pairs(Path(file)))
    else:
        corpus = generate("fr")
        pairs = [*corpus.valid, *corpus.test]
    translator = load(model)
    if way:
        translator = translator.towards(Direction.of(*way.split("-")))
    print(table(translator, right_ones(translator, pairs)))


if __name__ == "__main__":
    main(sys.argv[1:])
