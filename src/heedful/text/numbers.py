"""Numbers with all that belongs to them, and whether a translation has them."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, compress
from operator import and_, or_

from heedful.text.spans import Span

_LARGEST_SPELT_OUT = 12  # "2 men" is "zwei Männer"; above this, digits are expected to stay

_GROUPING = ".,'’٬\u00a0\u202f\u2009"  # 10,000 and 10.000
_DECIMAL = ".,٫"
_DASH = r"‐‑–−\-"
_SLASH = "/⁄"
_PART = rf"""(?:
    \d{{1,3}}(?:[ ]\d{{3}}(?!\d))++(?:[.,]\d+)?                    # 10 000
  | (?:(?<![\w.])\.)?\d+(?:[{_GROUPING}٫]\d+)*                 # 10,000.5 and .5 and 1.2.3
)"""
_RUN = rf"""
    \+(?=(?:[ ./()-]{{0,2}}\d){{7}})\d+(?:[ ./()-]{{1,2}}\d+)+     # +49 30 1234567
  | {_PART}(?:(?:[{_DASH}{_SLASH}:]|(?<=\d\d-\d\d)T(?=\d\d:)){_PART})*(?:(?<=:\d\d)Z\b)?
"""
_VULGAR = "[¼-¾⅐-⅞↉]"

_WITHOUT_SPACES = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # where words touch numbers
_MULTIPLIERS = "十百千万萬亿億兆십백천만억조"  # 500万 is 5,000,000
_UNIT = (
    "[kcmdnµμ]?m|[kmµμ]?g|t|[mcd]?l|h|min|ms|mph|kmh|[kMG]?Wh?|[km]?V|[kMG]?Hz|[kKMGT]B|px|pt|p"
    "|bn?|mn|k|K|M"
)
_BEFORE = rf"(?:(?<!\w)|(?<=[{_WITHOUT_SPACES}])|(?<=\b[A-Z]{{3}})|(?<=\b[vV]))"
_REFERENCE = "(?:[§№][ \u00a0]?|[vV])$"
_AFTER = rf"(?:(?!\w)|(?=(?:{_UNIT})(?!\w))|(?=[{_WITHOUT_SPACES}])(?![{_MULTIPLIERS}]))"

_SCALE = (
    r"\ ?(?i:thousand|tausend|mille|mil|[mbt]r?il+[ij]\w*|mln|mrd|mio|bn|k|тыс|млн|млрд|ми?лл?и\w+"
    r"|lakh|crore|लाख|करोड़|अरब|खरब|লাখ|কোটি|کروڑ|لاکھ)(?!\w)"
)

_MONEY = "$¢-¥֏؋৲৳฿៛\u20a0-\u20cf﷼﹩＄￠￡￥￦"
_SIGN = rf"""
    (?P<unclear>[\w)\].%{_DASH}]|\d[ ])?                           # as in 10-15 and Boeing-747
    [–−﹣－-](?:[A-Z]{{0,3}}[{_MONEY}][ \u00a0]?|[A-Z]{{3}}[ \u00a0]|[\u00a0\u202f])?$
"""
_SIGN_WORD = r"(?i:\b(?:minus|moins|menos|meno|mínus|мінус|минус|μείον|eksi)[ ]|[负負]|マイナス)$"
_LONGEST_SIGN = 8

_PLAIN = rf"\.?\d+(?:[{_DECIMAL}]\d+)?"
_GROUPED = (
    rf"(?:[1-9]\d{{0,2}}([{_GROUPING}\ ])\d{{3}}(?:\1\d{{3}})*|\d\d?(?:,\d\d)+,\d{{3}})"
    rf"(?:(?!\1)[{_DECIMAL}](?P<decimals>\d+))?"
)
_DATE = r"(\d{4})([-/.])(\d\d?)\2(\d\d?)|(\d\d?)([-/.])(\d\d?)\6(\d{4}|\d\d)"
_TIMES = rf"(?:\d\d?[{_DASH}])?\d\d?(?::\d\d){{1,2}}(?:[.,]\d+)?(?:[{_DASH}]\d\d?(?::\d\d){{1,2}})?"

Need = frozenset[str]
"""Values of which a translation must have one."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE)


def find_numbers(text: str) -> list[Span]:
    """Find the numbers that stay, with sign and all: no times, and none that is often spelt out.

    What is put together of numbers and means something else, such as an IP address, is a copy.
    """
    if not _compiled(r"\d").search(text):
        return []
    runs = _compiled(_RUN).finditer(text)
    found = [span for run in runs if (span := _span(text, run.start(), run.group()))]
    is_large = [not _is_often_spelt_out(span.text) for span in found]
    labels = [_is_label(text, span) for span in found]
    are_kept = any(map(and_, is_large, labels))  # labels, large or not
    return list(compress(found, map(or_, is_large, labels) if are_kept else is_large))


def missing_numbers(text: str, spans: Sequence[Span]) -> list[Span]:
    """List the numbers of which a translation has fewer than it should, whatever their form."""
    needs = [(span, _needs(span.text, span.is_scaled)) for span in spans if span.kind == "number"]
    wanted = Counter(chain(*(all_of_it for _, all_of_it in needs)))
    written = Counter(_written(text)) if needs else Counter[str]()
    return [
        span
        for span, all_of_it in needs
        if any(sum(written[value] for value in need) < wanted[need] for need in all_of_it)
    ]


def _span(text: str, start: int, run: str) -> Span | None:
    """Return what must stay of a run of digits and what joins them, if anything."""
    end = start + len(run)
    if run[0] == "+":
        return Span(start, end, run, "copy")
    stands_alone = _compiled(_BEFORE).match(text, start) and _compiled(_AFTER).match(text, end)
    if not stands_alone or _compiled(_TIMES).fullmatch(run):
        return None
    reference = _compiled(_REFERENCE).search(text, max(start - 2, 0), start)
    if reference or not _needs(run):
        start = reference.start() if reference else start
        return Span(start, end, text[start:end], "copy")
    sign = _compiled(_SIGN).search(text, max(start - _LONGEST_SIGN, 0), start)
    if sign and not sign["unclear"]:
        start = sign.start()
    is_scaled = bool(_compiled(_SCALE).match(text, end))
    return Span(start, end, text[start:end], "number", is_scaled)


def _is_often_spelt_out(number: str) -> bool:
    parts = _compiled(f"[{_DASH}:]").split(number)
    return all(
        part.isdecimal() and len(part) < 3 and int(part) <= _LARGEST_SPELT_OUT for part in parts
    )


def _is_label(text: str, number: Span) -> bool:
    """Whether a number says which and not how many, as in: room 101, door 7."""
    is_after_word = _compiled(r"\w[ ]").match(text, max(number.start - 2, 0))
    return bool(is_after_word and _compiled(r"[.,;:!?)\]](?!\S)|$").match(text, number.end))


def _needs(text: str, is_scaled: bool = False) -> list[Need]:
    """List the values that a translation of a number must have; none if it is not told by them."""
    sign, digits = _compiled(r"^(.*?)(\.?\d.*)$").findall(_ascii(text))[0]
    parts = _compiled(f"[{_DASH}:]").split(digits)
    needs: list[Need] = []
    if date := _compiled(_DATE).fullmatch(digits):
        needs = _needs_of_date(date)
    elif fraction := _compiled(rf"(\d+)[{_SLASH}](\d+)").fullmatch(digits):
        needs = [frozenset({"/".join(fraction.groups())})]
    elif len(parts) <= 2:
        needs = [_values(part) for part in parts]
    if not all(needs):
        pieces = digits.split(",")
        needs = [_values(piece) for piece in pieces] if all(map(str.isdecimal, pieces)) else []
    if is_scaled:
        needs = [need | set(map(_digits, need)) for need in needs]
    if sign and needs:
        needs[0] = frozenset(f"-{value}" for value in needs[0])
    return needs


def _needs_of_date(date: re.Match[str]) -> list[Need]:
    """A date must keep its year and its day; the month may be a word, but which is it?"""
    year, _, month, day = date.groups()[:4]
    if year:
        return [frozenset({year}), frozenset({str(int(day))})] if int(month) <= 12 else []
    first, _, second, year = date.groups()[4:]
    smaller, larger = sorted(map(int, (first, second)))
    if smaller > 12 or larger > 31:
        return []
    years = {year} if len(year) == 4 else {year, f"19{year}", f"20{year}"}
    days = {larger} if larger > 12 else {smaller, larger}
    return [frozenset(years), frozenset(map(str, days))]


def _values(text: str) -> Need:
    """Read a number, in both ways if a separator may mean groups or decimals."""
    values = set()
    if _compiled(_PLAIN).fullmatch(text):
        whole, *decimals = _compiled(f"[{_DECIMAL}]").split(text)
        values.add(".".join([whole or "0", *decimals]))
    if grouped := _compiled(_GROUPED).fullmatch(text):
        fraction = grouped["decimals"]
        groups = text[: -len(fraction) - 1] if fraction else text
        values.add(".".join(filter(None, [_compiled(r"\D").sub("", groups), fraction])))
    return frozenset(values)


def _written(text: str) -> Iterator[str]:
    """Give the values of all numbers in a text; what may be read in several ways gives several."""
    text = _compiled(_VULGAR).sub(lambda sign: f" {unicodedata.normalize('NFKD', sign[0])}", text)
    for run in _compiled(_RUN).finditer(text):
        before = text[max(run.start() - _LONGEST_SIGN, 0) : run.start()]
        sign = _compiled(_SIGN).search(before)
        is_signed = bool(sign or _compiled(_SIGN_WORD).search(before))
        digits = _ascii(run.group())
        first, *others = _compiled(f"[{_DASH}{_SLASH}:TZ+()]").split(digits)
        values = _readings(first)
        if not sign or sign["unclear"]:
            yield from values
        if is_signed:
            yield from (f"-{value}" for value in values)
        yield from chain(*map(_readings, others))
        yield from map("/".join, _compiled(rf"(?<!\d)(\d++)[{_SLASH}](?=(\d+))").findall(digits))


def _readings(part: str) -> set[str]:
    """Read a number as one, or piece by piece where it may be several or a date."""
    values = set(_values(part))
    if not values or " " in part:
        values |= set(_compiled(r"\d+").findall(part))
    whole = {value.lstrip("0") or "0" for value in values if value.isdecimal()}
    return values | whole | set(map(_digits, values))


def _digits(value: str) -> str:
    """Return what stays of a number when its point moves, as in 3.54 billion and 35.4億."""
    return "digits " + value.replace(".", "").strip("0")


def _ascii(text: str) -> str:
    """Write digits of any script as those of ASCII, which all languages agree on."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else sign for sign in text)
