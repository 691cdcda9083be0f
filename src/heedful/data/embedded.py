"""A parallel corpus that ships with the program, written by CLDR through Babel.

English dates, times, numbers, money, units, countries and languages, each with the one way in
which another locale writes it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from itertools import islice
from math import inf
from random import Random
from typing import Literal
from unicodedata import normalize

from babel import dates, lists, numbers
from babel.core import Locale, UnknownLocaleError
from babel.localedata import locale_identifiers

from heedful.errors import ConfigError

Pair = tuple[str, str]
Number = int | Decimal
ListStyle = Literal["standard", "or"]
RelativeField = Literal["year", "month", "week", "day", "hour", "minute"]

Writer = Callable[[Locale], str]
"""Something drawn, which any locale can write down."""


def _read_locale(name: str) -> Locale:
    """Read a locale for us alone: in what Babel shares, one spoils another (its issue 1234)."""
    locale = Locale.parse(name)
    locale.plural_form(1)  # Only now is there data to copy.
    return deepcopy(locale)


ENGLISH = _read_locale("en_US")
ROOT = _read_locale("root")
"""What CLDR falls back to where it has no words: 'M03' for March, '+3 w' for in 3 weeks."""

COUNTRIES = """
AD AE AF AG AL AM AO AR AT AU AZ BA BB BD BE BF BG BH BI BJ BN BO BR BS BT BW BY BZ CA CD CF CG CH
CI CL CM CN CO CR CU CV CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FM FR GA GB GD GE GH GM GN
GQ GR GT GW GY HN HR HT HU ID IE IL IN IQ IR IS IT JM JO JP KE KG KH KI KM KN KP KR KW KZ LA LB LC
LI LK LR LS LT LU LV LY MA MC MD ME MG MH MK ML MM MN MR MT MU MV MW MX MY MZ NA NE NG NI NL NO NP
NR NZ OM PA PE PG PH PK PL PS PT PW PY QA RO RS RU RW SA SB SC SD SE SG SI SK SL SM SN SO SR SS ST
SV SY SZ TD TG TH TJ TL TM TN TO TR TT TV TZ UA UG US UY UZ VA VC VE VN VU WS YE ZA ZM ZW
"""
"""The members and observers of the United Nations."""

REGIONS = "AT AU BE BR CA CH CN CO DE EG ES FR GB IN IT JP KE MA MX NG NL PT RU US"
"""Where languages are said to be spoken: few, as names in parentheses are learned on their own."""

LANGUAGES = """
af am ar as ay az be bg bm bn bo br bs ca co cs cy da de dz ee el en eo es et eu fa ff fi fo fr ga
gd gl gn gu ha he hi hr ht hu hy id ig is it ja jv ka kk km kn ko ku ky la lb lg ln lo lt lv mg mi
mk ml mn mr ms mt my ne nl no ny oc om or pa pl ps pt qu rm ro ru rw sa sd si sk sl sm sn so sq sr
su sv sw ta te tg th ti tk to tr tt ug uk ur uz vi wo xh yi yo zh zu
"""

CURRENCIES = "USD EUR GBP JPY CNY INR CAD AUD NZD BRL MXN KRW"

LONG_UNITS = """
length-kilometer length-meter length-centimeter length-mile length-foot mass-kilogram mass-gram
mass-pound volume-liter volume-milliliter area-square-kilometer area-square-meter area-hectare
duration-year duration-month duration-week duration-day duration-hour duration-minute
duration-second temperature-celsius speed-kilometer-per-hour speed-mile-per-hour power-kilowatt
digital-gigabyte
"""

SHORT_UNITS = """
length-kilometer length-meter length-centimeter length-mile mass-kilogram mass-gram volume-liter
volume-milliliter area-square-kilometer duration-hour duration-minute temperature-celsius
speed-kilometer-per-hour power-kilowatt digital-gigabyte
"""

RATED_UNITS = ("volume-liter", "volume-milliliter", "mass-kilogram", "mass-gram")
PER_UNITS = ("duration-second", "duration-minute", "duration-hour", "duration-day")

RELATIVE_FIELDS: tuple[RelativeField, ...] = ("year", "month", "week", "day", "hour", "minute")
WHOLE_DATES = ("full", "long")
DATE_STYLES = (*WHOLE_DATES, "yMMMd", "yMMMEd", "MMMMd", "yMMMM")
"""Two of CLDR's date formats and four of its skeletons."""

ASIDES = {"zh": "{0}（{1}）", "yue": "{0}（{1}）", "ko": "{0}({1})"}
"""The locale display patterns that are not '{0} ({1})'. CLDR has them, Babel does not."""

FIRST_DAY, LAST_DAY = date(1900, 1, 1), date(2099, 12, 31)

TUESDAYS = [date(2026, 1, 6) + timedelta(weeks=week) for week in range(52)]
ROOT_WORDS = re.compile(r"M\d\d|Tue")
"""How CLDR's root writes the months and the weekday of our Tuesdays."""

MISSES_IN_A_ROW = 20_000
"""After so many draws that bring nothing new, a locale counts as exhausted."""


@dataclass(frozen=True, kw_only=True)
class EmbeddedCorpus:
    """English sentences with their one right answer in another locale, in three disjoint parts."""

    locale: str
    """The target locale, as CLDR spells it."""

    train: tuple[Pair, ...]
    """Pairs to learn from; only here does a name stand alone."""

    valid: tuple[Pair, ...]
    """New sentences made of the words of `train`, to choose a model by."""

    test: tuple[Pair, ...]
    """New sentences made of the words of `train`, to judge that model by."""


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """What the target locale has words for; an empty field is what CLDR lacks there."""

    target: Locale
    countries: tuple[Writer, ...]
    regions: tuple[Writer, ...]
    languages: tuple[Writer, ...]
    list_styles: tuple[ListStyle, ...]
    date_styles: tuple[str, ...]
    relative_fields: tuple[RelativeField, ...]
    named_currencies: tuple[str, ...]
    units: tuple[tuple[str, str], ...]
    rates: tuple[tuple[str, str], ...]
    compact: bool
    intervals: tuple[str, ...]

    @property
    def names(self) -> tuple[Writer, ...]:
        """Countries and languages."""
        return self.countries + self.languages

    @property
    def moment_styles(self) -> tuple[str, ...]:
        """The dates that a time can follow."""
        return tuple(style for style in self.date_styles if style in WHOLE_DATES)

    def covers(self, category: "Category") -> bool:
        """Whether the locale has all that the category is made of."""
        return all(getattr(self, field) for field in category.needs)

    def translate(self, write: Writer) -> Pair:
        """Write the same thing in English, with spaces that one can type, and in the target."""
        typed = re.sub("[\u00a0\u2009\u202f]", " ", write(ENGLISH))
        return _tidy(typed), _tidy(write(self.target))


Draw = Callable[[Random, Lexicon], Writer]


@dataclass(frozen=True, kw_only=True)
class Category:
    """One kind of sentence: how often it is drawn, and the fields of the lexicon it needs."""

    name: str
    share: int
    draw: Draw
    needs: tuple[str, ...] = ()
    held_out: bool = True


def generate(
    locale: str = "fr", *, train: int = 20_000, held_out: int = 500, seed: int = 2017
) -> EmbeddedCorpus:
    """Draw a corpus from English into `locale`, with `held_out` pairs each in valid and test."""
    for name, size in (("train", train), ("held_out", held_out)):
        if size < 1:
            raise ConfigError(f"{name} must be at least 1, got {size}")
    lexicon = _lexicon(_target_locale(locale))
    if not lexicon.names and not lexicon.date_styles:
        raise ConfigError(f"locale '{locale}': CLDR has no words for it, only numbers; try another")
    draw = Random(seed)
    answers: dict[str, str] = {}

    possible = [category for category in CATEGORIES if lexicon.covers(category)]
    training = list(islice(_new_pairs(draw, lexicon, possible, answers), train))

    trained = {category.name for category, _ in training}
    askable = [each for each in possible if each.held_out and each.name in trained]
    known = {form for _, (source, _) in training for form in _forms(source)}
    others = islice(_new_pairs(draw, lexicon, askable, answers, known), 2 * held_out)
    unseen = [pair for _, pair in others]
    return EmbeddedCorpus(
        locale=str(lexicon.target),
        train=tuple(pair for _, pair in training),
        valid=tuple(unseen[:held_out]),
        test=tuple(unseen[held_out:]),
    )


def _target_locale(name: str) -> Locale:
    try:
        locale = _read_locale(name.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        locale = ROOT
    if locale == ROOT:
        # `near_miss` would list the thousand locales of CLDR where none is close.
        near = get_close_matches(name, sorted(locale_identifiers()), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "known are 'de', 'ja', 'pt_BR' and others"
        raise ConfigError(f"unknown locale '{name}'; {hint}")
    if locale.language == ENGLISH.language:
        raise ConfigError(
            f"locale '{name}' is English, and so is the source; choose another, such as 'fr'"
        )
    return locale


def _new_pairs(
    draw: Random,
    lexicon: Lexicon,
    categories: list[Category],
    answers: dict[str, str],
    known: set[str] | None = None,
) -> Iterator[tuple[Category, Pair]]:
    """Draw sentences that are not yet among the answers, if need be of known forms only."""
    shares = [category.share for category in categories]
    misses = 0
    while categories and misses < MISSES_IN_A_ROW:
        (category,) = draw.choices(categories, shares)
        source, target = lexicon.translate(category.draw(draw, lexicon))
        assert answers.get(source, target) == target, f"two answers to {source!r}"
        if source in answers or (known is not None and not _forms(source) <= known):
            misses += 1
        else:
            misses = 0
            answers[source] = target
            yield category, (source, target)
    raise ConfigError(
        f"locale '{lexicon.target}': found only {len(answers)} sentences; ask for fewer, or for "
        "more training sentences, whose words the held-out ones are made of"
    )


def _forms(source: str) -> set[str]:
    """The words as they stand between spaces, all digits alike."""
    return set(re.sub(r"\d", "0", source).split())


def _tidy(text: str) -> str:
    return normalize("NFC", re.sub("[ \t\n]+", " ", text).strip(" "))


def _lexicon(target: Locale) -> Lexicon:
    spoken = partial(_has_words, target)
    list_styles: tuple[ListStyle, ...] = ("standard", "or")
    one_two_three = [partial(_write_number, number) for number in (1, 2, 3)]
    long_units = [
        unit for unit in LONG_UNITS.split() if spoken(partial(_write_quantity, 3, unit, "long"))
    ]
    units = [(unit, "long") for unit in long_units]
    units += [(unit, "short") for unit in SHORT_UNITS.split() if unit in long_units]
    rates = [(unit, per) for unit in RATED_UNITS for per in PER_UNITS]
    return Lexicon(
        target=target,
        countries=_names(target, "territories", COUNTRIES),
        regions=_names(target, "territories", REGIONS),
        languages=_names(target, "languages", LANGUAGES),
        list_styles=tuple(
            style for style in list_styles if spoken(partial(_write_list, one_two_three, style))
        ),
        date_styles=tuple(
            style
            for style in DATE_STYLES
            if all(spoken(partial(_write_date, day, style)) for day in TUESDAYS)
        ),
        intervals=_intervals(target),
        relative_fields=tuple(
            field for field in RELATIVE_FIELDS if spoken(partial(_write_relative, 3, field))
        ),
        named_currencies=tuple(code for code in CURRENCIES.split() if code in target.currencies),
        units=tuple(units),
        rates=tuple(
            (unit, per) for unit, per in rates if spoken(partial(_write_rate, 3, unit, per))
        ),
        compact=spoken(partial(_write_compact, 3_250_000)),
    )


def _has_words(target: Locale, write: Writer) -> bool:
    """Whether CLDR has words of the locale's own, rather than those of its root or none."""
    try:
        text = write(target)
    except KeyError:
        return False
    return text not in ("", write(ROOT)) and not ROOT_WORDS.search(text)


def _names(target: Locale, kind: str, codes: str) -> tuple[Writer, ...]:
    """Names that both have, without parentheses of their own; none if too few for a list."""
    english, local = getattr(ENGLISH, kind), getattr(target, kind)
    known = [code for code in codes.split() if code in local]
    plain = [code for code in known if not re.search("[(（]", english[code] + local[code])]
    return tuple(partial(_write_name, kind, code) for code in plain) if len(plain) > 2 else ()


def _intervals(target: Locale) -> tuple[str, ...]:
    days = [partial(_write_interval, day, day + timedelta(days=2)) for day in TUESDAYS]
    if not all(_has_words(target, interval) for interval in days):
        return ()
    # Babel cannot compare the parts of the day (B), by which Taiwan counts the hours.
    by_parts_of_the_day = "B" in target.interval_formats[_hours_skeleton(target)]
    return ("days",) if by_parts_of_the_day else ("days", "hours")


# How any locale writes a value.


def _write_name(kind: str, code: str, locale: Locale) -> str:
    return str(getattr(locale, kind)[code])


def _write_list(parts: Sequence[Writer], style: ListStyle, locale: Locale) -> str:
    return lists.format_list([part(locale) for part in parts], style, locale)


def _write_aside(head: Writer, detail: Writer, locale: Locale) -> str:
    return ASIDES.get(locale.language, "{0} ({1})").format(head(locale), detail(locale))


def _write_date(day: date, style: str, locale: Locale) -> str:
    patterns = locale.date_formats if style in WHOLE_DATES else locale.datetime_skeletons
    return dates.format_date(day, patterns[style].pattern, locale)


def _write_time(clock: time, locale: Locale) -> str:
    return dates.format_time(clock, "short", locale=locale)


def _write_moment(day: date, style: str, clock: time, locale: Locale) -> str:
    glue = str(dates.get_datetime_format("long", locale)).replace("'", "")
    return glue.format(_write_time(clock, locale), _write_date(day, style, locale))


def _write_interval(start: date | time, end: date | time, locale: Locale) -> str:
    skeleton = "yMMMd" if isinstance(start, date) else _hours_skeleton(locale)
    return dates.format_interval(start, end, skeleton, locale=locale)


def _hours_skeleton(locale: Locale) -> str:
    return "Hm" if "H" in locale.time_formats["short"].pattern else "hm"


def _write_relative(count: int, field: RelativeField, locale: Locale) -> str:
    seconds = count * dict(dates.TIMEDELTA_UNITS)[field]
    return dates.format_timedelta(seconds, field, inf, add_direction=True, locale=locale)


def _write_number(number: Number, locale: Locale) -> str:
    return numbers.format_decimal(number, locale=locale)


def _write_percent(number: Decimal, locale: Locale) -> str:
    return numbers.format_percent(number, locale=locale, decimal_quantization=False)


def _write_compact(number: int, locale: Locale) -> str:
    # CLDR's root lets the long form default to the short one; Babel does not.
    has_long = "long" in locale.compact_decimal_formats
    return numbers.format_compact_decimal(
        number, format_type="long" if has_long else "short", locale=locale, fraction_digits=2
    )


def _write_price(number: Decimal, currency: str, locale: Locale) -> str:
    return numbers.format_currency(number, currency, locale=locale)


def _write_money(number: Number, currency: str, locale: Locale) -> str:
    cents = isinstance(number, Decimal)
    return numbers.format_currency(
        number, currency, locale=locale, currency_digits=cents, format_type="name"
    )


def _write_quantity(number: Number, unit: str, length: str, locale: Locale) -> str:
    forms = _unit_forms(locale, unit, length)
    form = forms.get(locale.plural_form(number)) or forms["other"]
    return form.format(_write_number(number, locale))


def _write_rate(number: Number, unit: str, per: str, locale: Locale) -> str:
    quantity = _write_quantity(number, unit, "long", locale)
    return _unit_forms(locale, per, "long")["per"].format(quantity)


def _unit_forms(locale: Locale, unit: str, length: str) -> Mapping[str, str]:
    # Babel's format_unit writes the unit's code where CLDR defaults to the short or other form.
    lengths: Mapping[str, Mapping[str, str]] = locale._data["unit_patterns"][unit]
    return lengths.get(length) or lengths["short"]


# What there is to draw.


def _draw_day(draw: Random) -> date:
    return date.fromordinal(draw.randrange(FIRST_DAY.toordinal(), LAST_DAY.toordinal() + 1))


def _draw_clock(draw: Random) -> time:
    return time(draw.randrange(24), draw.randrange(60))


def _draw_whole(draw: Random, digits: int) -> int:
    """A number of any length up to so many digits; often 1, for the sake of singular forms."""
    return 1 if draw.random() < 0.1 else draw.randrange(2, 10 ** draw.randint(1, digits))


def _draw_fraction(draw: Random, places: int) -> Decimal:
    """A number that needs all its decimal places."""
    digits = 10 * draw.randrange(10 ** draw.randint(2, 4)) + draw.randint(1, 9)
    return Decimal(digits).scaleb(-places)


def _draw_amount(draw: Random) -> Number:
    return _draw_whole(draw, 4) if draw.random() < 0.7 else _draw_fraction(draw, 1)


def _draw_cents(draw: Random, currency: str) -> Decimal:
    places = numbers.get_currency_precision(currency)
    return Decimal(draw.randrange(1, 10 ** draw.randint(3, 6))).scaleb(-places)


def _draw_names(draw: Random, lexicon: Lexicon, count: int) -> list[Writer]:
    """Names of one kind, each name of either kind as often as any other."""
    pools = lexicon.countries, lexicon.languages
    (pool,) = draw.choices(pools, [len(pool) for pool in pools])
    return draw.sample(pool, count)


def _draw_list(draw: Random, lexicon: Lexicon, parts: Sequence[Writer]) -> Writer:
    return partial(_write_list, parts, draw.choice(lexicon.list_styles))


# One function for each category.


def _name(draw: Random, lexicon: Lexicon) -> Writer:
    return draw.choice(lexicon.names)


def _name_list(draw: Random, lexicon: Lexicon) -> Writer:
    return _draw_list(draw, lexicon, _draw_names(draw, lexicon, draw.choice((2, 3))))


def _variety(draw: Random, lexicon: Lexicon) -> Writer:
    return partial(_write_aside, draw.choice(lexicon.languages), draw.choice(lexicon.regions))


def _record(draw: Random, lexicon: Lexicon) -> Writer:
    detail = _one_of(draw, lexicon, "date", "percent", "compact", "price")
    return partial(_write_aside, _name(draw, lexicon), detail(draw, lexicon))


def _value_list(draw: Random, lexicon: Lexicon) -> Writer:
    value = _one_of(draw, lexicon, "time", "relative", "percent", "price", "unit")
    return _draw_list(draw, lexicon, [value(draw, lexicon), value(draw, lexicon)])


def _one_of(draw: Random, lexicon: Lexicon, *names: str) -> Draw:
    possible = [each for each in CATEGORIES if each.name in names and lexicon.covers(each)]
    return draw.choice(possible).draw


def _date(draw: Random, lexicon: Lexicon) -> Writer:
    day, style = _draw_day(draw), draw.choice(lexicon.date_styles)
    if style == "yMMMd" and day.month == 5:
        day += timedelta(days=31)  # May has no shorter name: "May 3, 2026" is the long date.
    return partial(_write_date, day, style)


def _time(draw: Random, lexicon: Lexicon) -> Writer:
    return partial(_write_time, _draw_clock(draw))


def _moment(draw: Random, lexicon: Lexicon) -> Writer:
    style = draw.choice(lexicon.moment_styles)
    return partial(_write_moment, _draw_day(draw), style, _draw_clock(draw))


def _interval(draw: Random, lexicon: Lexicon) -> Writer:
    if draw.choice(lexicon.intervals) == "days":
        first = _draw_day(draw)
        return partial(_write_interval, first, first + timedelta(days=draw.randint(1, 60)))
    start, end = sorted(draw.sample(range(24 * 60), 2))
    return partial(_write_interval, time(*divmod(start, 60)), time(*divmod(end, 60)))


def _relative(draw: Random, lexicon: Lexicon) -> Writer:
    count = draw.choice((-1, 1)) * draw.randint(1, 60)
    return partial(_write_relative, count, draw.choice(lexicon.relative_fields))


def _number(draw: Random, lexicon: Lexicon) -> Writer:
    places = draw.choice((0, 1, 2))
    number = _draw_fraction(draw, places) if places else _draw_whole(draw, 6)
    return partial(_write_number, number)


def _percent(draw: Random, lexicon: Lexicon) -> Writer:
    return partial(_write_percent, Decimal(draw.randint(1, 1000)).scaleb(-3))


def _compact(draw: Random, lexicon: Lexicon) -> Writer:
    # Not from 100, since Babel writes "1 millions" in French.
    return partial(_write_compact, draw.randint(101, 999) * 10 ** draw.randint(3, 9))


def _price(draw: Random, lexicon: Lexicon) -> Writer:
    currency = draw.choice(CURRENCIES.split())
    return partial(_write_price, _draw_cents(draw, currency), currency)


def _money(draw: Random, lexicon: Lexicon) -> Writer:
    currency = draw.choice(lexicon.named_currencies)
    whole = draw.random() < 0.7
    number = _draw_whole(draw, 6) if whole else _draw_cents(draw, currency)
    return partial(_write_money, number, currency)


def _unit(draw: Random, lexicon: Lexicon) -> Writer:
    return partial(_write_quantity, _draw_amount(draw), *draw.choice(lexicon.units))


def _rate(draw: Random, lexicon: Lexicon) -> Writer:
    return partial(_write_rate, _draw_amount(draw), *draw.choice(lexicon.rates))


CATEGORIES = (
    Category(name="name", share=6, draw=_name, needs=("names",), held_out=False),
    Category(name="name list", share=30, draw=_name_list, needs=("names", "list_styles")),
    Category(name="variety", share=5, draw=_variety, needs=("languages", "regions")),
    Category(name="record", share=14, draw=_record, needs=("names",)),
    Category(name="value list", share=6, draw=_value_list, needs=("list_styles",)),
    Category(name="date", share=8, draw=_date, needs=("date_styles",)),
    Category(name="time", share=4, draw=_time),
    Category(name="moment", share=5, draw=_moment, needs=("moment_styles",)),
    Category(name="interval", share=5, draw=_interval, needs=("intervals",)),
    Category(name="relative", share=2, draw=_relative, needs=("relative_fields",)),
    Category(name="number", share=4, draw=_number),
    Category(name="percent", share=2, draw=_percent),
    Category(name="compact", share=2, draw=_compact, needs=("compact",)),
    Category(name="price", share=3, draw=_price),
    Category(name="money", share=4, draw=_money, needs=("named_currencies",)),
    Category(name="unit", share=8, draw=_unit, needs=("units",)),
    Category(name="rate", share=2, draw=_rate, needs=("rates",)),
)
"""The shares let every name come often and every category be tested."""
