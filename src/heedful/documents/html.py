"""HTML and XHTML: what stands between blocks is translated with the tags inside it."""

import re
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import chain

from heedful.documents.document import Passage, decode, fold, has_words
from heedful.documents.tagged import Node, Tagged
from heedful.text.spans import find_tags

_TAG_NAME = re.compile(r"</?([A-Za-z][^\s<>/]*)")
_INLINE = frozenset(
    re.findall(
        r"\w+",
        "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark math "
        "nobr q rp rt ruby s samp small span strike strong sub sup svg time tt u var wbr",
    )
)
_VOID = frozenset(["img", "wbr"])
_CODE = frozenset(["code", "kbd", "samp", "var", "svg", "math"])  # stays, within a sentence
_NO_TEXT = frozenset(
    ["script", "style", "pre", "textarea", "template", "iframe", "object", "noscript"]
)
_NOT_TRANSLATED = re.compile(
    r"""\stranslate\s*=\s*["']?no\b | \sclass\s*=\s*["'][^"']*\bnotranslate\b""", re.X | re.I
)
_KEPT_ENTITY = re.compile(
    r"&(?:lt|gt|amp|quot|apos|#0*(?:34|38|39|60|62)|#[xX]0*(?:22|26|27|3[cCeE]));"
)
_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_DECLARED = re.compile(
    rb"""<\?xml[^>]*\sencoding\s*=\s*["']([\w-]+) | <meta[^>]*\scharset\s*=\s*["']?([\w-]+)""",
    re.X | re.I,
)


def find_html(text: str) -> list[Passage]:
    """Find what is to be translated in a page, or in a part of one."""
    return list(_passages(text, _tokens(text)))


def decode_html(content: bytes, name: str) -> tuple[str, str]:
    """Decode a page by what it declares; also return the encoding, to write it back."""
    declared = _DECLARED.search(content[:4096])
    encoding = (declared[1] or declared[2]).decode() if declared else "utf-8"
    try:
        "".encode(encoding)
    except LookupError:  # unknown, or no encoding of text
        encoding = "utf-8"
    if encoding.lower().startswith(("utf-16", "utf-32", "utf-7")):
        encoding = "utf-8"  # as browsers do, for it was read as ASCII up to here
    return decode(content, encoding, name), encoding


class _Token:
    """A tag, or what is skipped whole, by its place and name."""

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start, self.end, self.text = start, end, text
        match = _TAG_NAME.match(text)
        self.name = match[1].lower() if match else ""
        self.is_closing = text.startswith("</")
        self.is_alone = not self.is_closing and (
            not self.name or self.name in _VOID or text.endswith("/>")
        )

    @property
    def is_inline(self) -> bool:
        return self.name in _INLINE or self.text.startswith("<!--")

    @property
    def is_skipped(self) -> bool:
        """Whether all up to its end is left as it is."""
        return not (self.is_closing or self.is_alone) and (
            self.name in _NO_TEXT or self.name in _CODE or bool(_NOT_TRANSLATED.search(self.text))
        )


def _tokens(text: str) -> Iterator[_Token]:
    """Give the tags of a page in order; an element that is skipped is one."""
    tags = [_Token(*match.span(), match.group()) for match in find_tags(text)]
    closing: dict[str, list[_Token]] = {}
    for tag in reversed(tags):
        if tag.is_closing:
            closing.setdefault(tag.name, []).append(tag)  # the first is last
    at = 0
    for index, tag in enumerate(tags):
        if tag.start < at:
            continue
        if not tag.is_skipped:
            yield tag
            continue
        end = _end_of(tag, tags[index + 1 :] if tag.name not in _NO_TEXT else (), closing)
        skipped = _Token(tag.start, end, text[tag.start : end])
        skipped.is_alone = True
        yield skipped
        at = end


def _end_of(tag: _Token, later: Sequence[_Token], closing: dict[str, list[_Token]]) -> int:
    """Find where an element ends: after the closing tag that is its own."""
    depth = 1
    for other in later:
        if other.name == tag.name and not other.is_alone:
            depth += -1 if other.is_closing else 1
            if not depth:
                return other.end
    for candidate in reversed(closing.get(tag.name, [])):
        if candidate.start >= tag.end:
            return candidate.end
    return tag.end


def _passages(text: str, tokens: Iterator[_Token]) -> Iterator[Passage]:
    """Give what stands between two tags of blocks, with the tags inside it."""
    start, inside = 0, list[_Token]()
    for token in chain(tokens, [None]):
        if token and token.is_inline:
            inside.append(token)
            continue
        passage = _passage(text, start, token.start if token else len(text), inside)
        if passage:
            yield passage
        start, inside = (token.end if token else len(text)), []


def _passage(text: str, start: int, end: int, tokens: list[_Token]) -> Passage | None:
    """Read a passage without the spaces and the tags that stand around all of it."""
    content = text[start:end]
    start += len(content) - len(content.lstrip())
    end = start + len(content.strip())
    tagged = Tagged()
    partners = _partners(tokens)
    _read(tagged, text, start, end, tokens, partners)
    if not has_words(tagged.words):
        return None
    hard_spaces = "&nbsp;" in text[start:end]

    def written(translation: str) -> str | None:
        nodes = tagged.read(translation)
        if nodes is None:
            return None
        html = "".join(map(_written, nodes))
        return html.replace("\xa0", "&nbsp;") if hard_spaces else html

    return Passage(start, end, tagged.text, written)


def _partners(tokens: Sequence[_Token]) -> dict[int, int]:
    """Pair tags that open with those that close, as far as they nest."""
    partners: dict[int, int] = {}
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.is_alone:
            continue
        if not token.is_closing:
            opened.append(index)
            continue
        names = [tokens[other].name for other in opened]
        if token.name in names:
            at = len(names) - 1 - names[::-1].index(token.name)
            partners[opened[at]] = index
            del opened[at:]
    return partners


def _read(
    tagged: Tagged, text: str, start: int, end: int, tokens: list[_Token], partners: dict[int, int]
) -> None:
    """Write a passage as a tagged text."""
    at = start
    open_until: dict[int, int] = {}
    for index, token in enumerate(tokens):
        tagged.write(_decoded(fold(text[at : token.start])))
        at = token.end
        if index in partners:
            closing = tokens[partners[index]].text
            open_until[partners[index]] = tagged.begin((token.text, closing))
        elif index in open_until:
            tagged.end(open_until[index])
        else:
            tagged.alone((token.text, ""))
    tagged.write(_decoded(fold(text[at:end])))


def _written(node: str | Node) -> str:
    if isinstance(node, str):
        return _harmless(node)
    opening, closing = node.thing
    return "".join([opening, *map(_written, node.inside or ()), closing])


def _decoded(text: str) -> str:
    """Decode entities, but for those without which a text would be markup."""
    return _ENTITY.sub(
        lambda found: found[0] if _KEPT_ENTITY.fullmatch(found[0]) else unescape(found[0]), text
    )


def _harmless(text: str) -> str:
    """Spell out what would begin a tag or an entity, and is none."""
    return re.sub(r"&(?!(?:\w+|#\w+);)", "&amp;", text).replace("<", "&lt;").replace(">", "&gt;")
