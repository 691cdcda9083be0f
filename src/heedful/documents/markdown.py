"""Markdown: prose is translated with its emphasis and links; code and structure stay."""

import re
from collections.abc import Iterator
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from heedful.documents.document import Passage, fold, has_words
from heedful.documents.html import find_html
from heedful.documents.tagged import Node, Tagged

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n.*?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)
_ALONE = r"""
    (?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))          # `code`
  | !\[[^\[\]]*\](?:\([^()\s]*(?:\s+"[^"]*")?\)|\[[^\[\]]*\])       # ![picture](address)
  | \[\^[^\[\]]+\]                                               # [^note]
  | <[a-z][a-z0-9+.-]*:[^\s<>]*>                                 # <address>
  | </?[A-Za-z](?:[^<>"']|"[^"<]*"|'[^'<]*')*+>                  # a tag
  | \\[!-/:-@\[-`{-~]                                            # an escaped mark
"""
_AROUND = r"""
    \[(?P<link>[^\[\]]+)\](?P<target>\([^()\s]*(?:\([^()\s]*\))?[^()\s]*(?:\s+"[^"]*")?\)|\[[^\[\]]*\])
  | (?P<mark>\*\*|__|~~|\*|(?<!\w)_)(?=\S)(?P<marked>(?:(?!(?P=mark)).)+?)(?<=\S)(?P=mark)(?!\w)
"""
_INLINE = re.compile(f"{_ALONE}|{_AROUND}", re.VERBOSE | re.DOTALL)


def find_markdown(text: str) -> list[Passage]:
    """Find paragraphs, headings, cells and the HTML among them."""
    front = _FRONT_MATTER.match(text)
    begin = front.end() if front else 0
    return sorted(_passages(text, begin), key=lambda passage: passage.start)


def _passages(text: str, begin: int) -> Iterator[Passage]:
    parser = MarkdownIt("commonmark").enable("table").disable("inline")  # which has no places
    lines = text[begin:].split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=begin))
    taken: dict[int, int] = {}  # how far a line has been read, as it may hold several cells
    for token in parser.parse("\n".join(lines)):
        if not token.map:
            continue
        first, last = token.map
        if token.type == "html_block":
            start, end = starts[first], min(starts[last] - 1, len(text))
            for passage in find_html(text[start:end]):
                yield passage._replace(start=passage.start + start, end=passage.end + start)
        elif token.type == "inline":
            found = _place(token, lines, starts, taken)
            if found and (paragraph := _passage(text, *found)):
                yield paragraph


def _place(
    token: Token, lines: list[str], starts: list[int], taken: dict[int, int]
) -> tuple[int, int] | None:
    """Find where the content of a block stands, which is not always where its lines begin."""
    assert token.map is not None
    row = token.map[0]
    contents = token.content.split("\n")
    begin = lines[row].find(contents[0], taken.get(row, 0))
    last = row + len(contents) - 1
    if begin < 0 or last >= len(lines):
        return None
    end = lines[last].find(contents[-1], begin if last == row else 0)
    if end < 0:
        return None
    taken[last] = end + len(contents[-1])
    return starts[row] + begin, starts[last] + taken[last]


def _passage(text: str, start: int, end: int) -> Passage | None:
    """Read a block; lines are joined, but for those that end in a break."""
    content = text[start:end]
    plain = re.sub(r"\r?\n[ \t]*(?:>[ \t]?)*", "\n", content)  # a quote's marks go before each line
    if re.search(r"(?:  |\\)\n", plain):
        return None  # verse: its lines are as they are meant
    tagged = Tagged()
    _read(tagged, fold(plain))
    if not has_words(tagged.words):
        return None

    def written(translation: str) -> str | None:
        nodes = tagged.read(translation)
        return None if nodes is None else "".join(map(_written, nodes))

    return Passage(start, end, tagged.text, written)


def _read(tagged: Tagged, text: str) -> None:
    """Write Markdown as a tagged text."""
    at = 0
    for match in _INLINE.finditer(text):
        tagged.write(text[at : match.start()])
        at = match.end()
        if match["link"]:
            number = tagged.begin(("[", f"]{match['target']}"))
            _read(tagged, match["link"])
            tagged.end(number)
        elif match["marked"]:
            number = tagged.begin((match["mark"], match["mark"]))
            _read(tagged, match["marked"])
            tagged.end(number)
        else:
            tagged.alone((match.group(), ""))
    tagged.write(text[at:])


def _written(node: str | Node) -> str:
    if isinstance(node, str):
        return node
    opening, closing = node.thing
    return "".join([opening, *map(_written, node.inside or ()), closing])
