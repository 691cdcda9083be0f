"""What a translation must leave as it is: tags, addresses, placeholders, numbers."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import filterfalse
from typing import Literal, NamedTuple

_LARGEST_SPELT_OUT = 12  # "2 men" is "zwei Männer"; above this, digits are expected to stay

_TAG = r"""
    <!--(?:(?!<!--).)*?-->                                     # a comment
  | <[?!][^<>]*>                                               # a declaration
  | </?[A-Za-z](?:[^<>"']|"[^"<]*"|'[^'<]*')*+>                # <b>, </b>, <br/>, <a href="...">
"""
_IN_ADDRESS = r"""
    \([^\s()<>"]*\) | \{\{[^{}]*\}\} | \{[^\s{}]*\} | (?<=[/=])<\w+>(?=[/?&\#])  # (a), {id}, <id>/
"""
_ADDRESS = rf"""
    (?i:https?|ftp)://
      (?>{_IN_ADDRESS} | [^\s()<>"。，、；！？）」』】])*
      (?:{_IN_ADDRESS} | [^\s()<>"。，、；！？）」』】.,;:!?'\]}}*_])
  | (?<![\w.])www\.(?:[\w-]+\.)+[a-z]{{2,}}(?:/[^\s<>"()]*)?(?<![.,;:!?'\]}}*_])
  | (?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+                   # an e-mail address
"""
_PLACEHOLDER = r"""
    \{\{[^{}]*\}\}                                             # {{x}}
  | [$%\#]?\{[ ]?[\w.:!?,\#\[\]()*+%$@&<>^=/|'"-]*[ ]?\}       # {name}, {0:.2f}, ${x}, %{x}
  | \{\w+,[ ]?(?:number|date|time|plural|select|selectordinal)\b
    (?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}                     # {n, plural, one {# dog}}
  | <%(?:(?!<%|%>).)*%>                                        # <%= x %>
  | (?<![\w$])\$[A-Za-z_]\w*                                   # $x, but not $5
  | %\(\w+\)[\#0+-]*\d*(?:\.\d+)?[a-zA-Z]                      # %(name)s
  | %%
  | (?<![\d%])%(?:\d+\$)?[\#0+-]*(?:\d+|\*)?(?:\.(?:\d+|\*))?(?:hh?|ll?|[zjtLq])?
    [sdifgeuxXcr@opEG](?![A-Za-z])                             # %s, %1$.2f, %zu
  | (?<![\w%])%[A-Za-z_]\w*%(?!\w)                             # %name%
  | &(?:[A-Za-z][A-Za-z0-9]{1,30}|\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6});  # &amp;
  | \\[nrt](?![a-z])                                           # a line end spelt out
"""
_COPY = f"{_ADDRESS}|{_PLACEHOLDER}"
_HINT = r"[@{$%&\\]|://|www\."  # without any of these there is nothing to copy
_UNIT = (
    "[kcmdnµμ]?m|[kmµμ]?g|t|[mcd]?l|h|min|ms|mph|kmh|[kMG]?Wh?|[km]?V|[kMG]?Hz|[kKMGT]B|px|pt|p"
    "|bn?|mn|k|K|M"
)
_WITHOUT_SPACES = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # where words touch numbers
_MULTIPLIERS = "十百千万萬亿億兆십백천만억조"  # 500万 is 5,000,000
_NUMBER = rf"""(?<![:.,])(?:(?<!\w)|(?<=[{_WITHOUT_SPACES}])|(?<=\b[A-Z]{{3}}))(?>
    \d{{1,3}}(?:[ ]\d{{3}})+(?!\d)(?:[.,]\d+)?                     # 10 000
  | \d+(?:[.,'’\u00a0\u202f\u2009]\d+)*                        # 10,000.5
)(?!:\d)(?:(?!\w)|(?=(?:{_UNIT})(?!\w))|(?=[{_WITHOUT_SPACES}])(?![{_MULTIPLIERS}]))"""
_WRITTEN_NUMBER = r"\d+(?:[.,'’\u00a0\u202f\u2009 ]\d+)*"


class Span(NamedTuple):
    """A part of the source, and what has to stand in the translation for it."""

    start: int
    end: int
    text: str
    kind: Literal["copy", "number", "term"]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


def find_tags(text: str) -> Iterator[re.Match[str]]:
    """Find the tags, comments and declarations of HTML and XML."""
    return _compiled(_TAG).finditer(text) if "<" in text else iter(())


def find_copies(text: str) -> list[Span]:
    """Find addresses, placeholders and entities, which stay letter for letter."""
    if not _compiled(_HINT).search(text):
        return []
    matches = _compiled(_COPY).finditer(text)
    return [Span(m.start(), m.end(), m.group(), "copy") for m in matches]


def find_unreadable(text: str, unknown: Collection[str]) -> list[Span]:
    """Find symbols that a vocabulary does not know, and words that have only such letters."""
    patterns = []
    if letters := _any_of(filter(str.isalpha, unknown)):
        patterns.append(rf"(?<!\w){letters}(?: {letters})*(?!\w)")
    if symbols := _any_of(filterfalse(str.isalpha, unknown)):
        patterns.append(symbols)
    if not patterns:
        return []
    matches = re.finditer("|".join(patterns), text)
    return [Span(m.start(), m.end(), m.group(), "copy") for m in matches]


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


def find_numbers(text: str) -> list[Span]:
    """Find the numbers that stay numbers: no times of day, and none that is often spelt out."""
    if not _compiled(r"\d").search(text):
        return []
    return [
        Span(match.start(), match.end(), match.group(), "number")
        for match in _compiled(_NUMBER).finditer(text)
        if len(match.group()) > 2 or int(match.group()) > _LARGEST_SPELT_OUT
    ]


def digits(text: str) -> str:
    """Return the digits of a number, in those of ASCII: this is what languages agree on."""
    return "".join(str(unicodedata.decimal(digit)) for digit in text if digit.isdecimal())


def written_digits(text: str) -> Iterator[str]:
    """List the digits of every number in a text, however their groups are set apart.

    What spaces set apart may be one number or several, so both are listed.
    """
    for match in _compiled(_WRITTEN_NUMBER).finditer(text):
        parts = match.group().split(" ")
        yield from map(digits, [match.group(), *parts] if len(parts) > 1 else parts)
