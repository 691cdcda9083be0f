"""What a translation must leave as it is: tags, addresses, placeholders, what it cannot read."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import filterfalse
from typing import Literal, NamedTuple
from unicodedata import category

from heedful.text.words import LETTER

_TAG = r"""
    <!--(?:(?!<!--).)*?-->                                     # a comment
  | <[?!][^<>]*>                                               # a declaration
  | </?[A-Za-z](?:[^<>"']|"[^"<]*"|'[^'<]*')*+>                # <b>, </b>, <br/>, <a href="...">
"""
_UNSEEN = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_IN_ADDRESS = r"""
    \([^\s()<>"]*\) | \{\{[^{}]*\}\} | \{[^\s{}]*\} | (?<=[/=])<\w+>(?=[/?&\#])  # (a), {id}, <id>/
"""
_TAGGED = "A-Za-z_\u00c0-\u1fff"
_ADDRESS = rf"""
    (?i:https?|ftp)://
      (?>{_IN_ADDRESS} | [^\s()<>"。，、；！？）」』】])*
      (?:{_IN_ADDRESS} | [^\s()<>"。，、；！？）」』】.,;:!?'\]}}*_{_UNSEEN}])
  | (?<![\w.])www\.(?:[\w-]+\.)+[a-z]{{2,}}(?:/[^\s<>"()]*)?(?<![.,;:!?'\]}}*_{_UNSEEN}])
  | (?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+                   # an e-mail address
  | (?<![\w&/\#@])[\#@](?=\d*[{_TAGGED}])[\d{_TAGGED}]+            # #hashtag, @somebody
"""
_PLACEHOLDER = r"""
    \{\{[^{}]*\}\}                                             # {{x}}
  | [$%\#]?\{[ ]?[\w.:!?,\#\[\]()*+%$@&<>^=/|'"-]*[ ]?\}       # {name}, {0:.2f}, ${x}, %{x}
  | \{\w+,[ ]?(?:number|date|time|plural|select|selectordinal)\b
    (?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}                     # {n, plural, one {# dog}}
  | <%(?:(?!<%|%>).)*%>                                        # <%= x %>
  | (?<![\w$])\$[A-Za-z_]\w*                                   # $x, but not $5
  | %\(\w+\)[\#0+-]*+\d*+(?:\.\d+)?[a-zA-Z]                    # %(name)s
  | %%
  | (?<![\d%])%(?:\d++\$)?[\#0+-]*+(?:\d++|\*)?(?:\.(?:\d++|\*))?(?:hh?|ll?|[zjtLq])?
    [sdifgeuxXcr@opEG](?![A-Za-z])                             # %s, %1$.2f, %zu
  | (?<![\w%])%[A-Za-z_]\w*%(?!\w)                             # %name%
  | &(?:[A-Za-z][A-Za-z0-9]{1,30}|\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6});  # &amp;
  | \\[nrt](?![a-z])                                           # a line end spelt out
"""
_HEX = "[0-9A-Fa-f]"
_GROUPS = rf"{_HEX}{{1,4}}(?::{_HEX}{{1,4}}){{0,6}}"
_CODE = rf"""
    (?<![\w-]){_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}}(?![\w-])                  # a UUID
  | (?<![\w:.])(?:{_HEX}{{1,4}}:){{5,7}}{_HEX}{{1,4}}(?![\w:])                       # 00:1b:...
  | (?<![\w:.])(?=[0-9A-Fa-f:]{{0,39}}\d)(?:{_GROUPS})?::(?:{_GROUPS})?(?![\w:])     # 2001:db8::1
  | (?<![\w.,])(?:0[xX]{_HEX}++|\d++(?:\.\d++)?(?:[eE][+-]?|\^-?)\d++)(?!\w)        # 0x1F, 1e-5
"""
_COPY = f"{_ADDRESS}|{_PLACEHOLDER}|{_CODE}"
# Without any of these there is nothing to copy.
_HINT = (
    rf"[@{{$%&\\\#]|://|www\.|::|-{_HEX}{{4}}-|(?:{_HEX}:|{_HEX}{{2}}:){{5}}|0[xX]|\d[eE^][-+\d]"
)


class Span(NamedTuple):
    """A part of the source, and what has to stand in the translation for it."""

    start: int
    end: int
    text: str
    kind: Literal["copy", "number", "term"]
    is_scaled: bool = False
    """Whether it counts millions or the like, where other languages count otherwise."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


def find_tags(text: str) -> Iterator[re.Match[str]]:
    """Find the tags, comments and declarations of HTML and XML."""
    return _compiled(_TAG).finditer(text) if "<" in text else iter(())


def find_copies(text: str) -> list[Span]:
    """Find addresses, placeholders, entities and codes, which stay letter for letter."""
    if not _compiled(_HINT).search(text):
        return []
    matches = _compiled(_COPY).finditer(text)
    return [Span(m.start(), m.end(), m.group(), "copy") for m in matches]


def find_unreadable(text: str, unknown: Collection[str]) -> list[Span]:
    """Find symbols that a vocabulary does not know, and words that have only such letters."""
    patterns = []
    if letters := _any_of(filter(str.isalpha, unknown)):
        patterns.append(rf"(?<!\w){letters}(?: {letters})*(?!\w)")
    others = list(filterfalse(str.isalpha, unknown))
    if symbols := _any_of(filterfalse(is_accent, others)):
        patterns.append(symbols)
    if accents := _any_of(filter(is_accent, others)):
        patterns.append(rf"(?<!{LETTER}){accents}")  # which stand on no letter
    if not patterns:
        return []
    matches = re.finditer("|".join(patterns), text)
    return [Span(m.start(), m.end(), m.group(), "copy") for m in matches]


def is_accent(character: str) -> bool:
    """Whether a character stands on, under or around the one before it."""
    return category(character)[0] == "M"


def _any_of(characters: Iterable[str]) -> str:
    escaped = re.escape("".join(sorted(characters)))
    return f"[{escaped}]+" if escaped else ""


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Put spans in order; of two that overlap the one that was named first stays."""
    kept: list[Span] = []
    for span in spans:
        if not any(span.start < other.end and other.start < span.end for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda span: span.start)
