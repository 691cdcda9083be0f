"""Languages by code and name, and the other codes that clients have for them."""

from collections.abc import Iterable

_NAMES = """
af Afrikaans|am Amharic|ar Arabic|az Azerbaijani|be Belarusian|bg Bulgarian|bn Bengali|bs Bosnian
ca Catalan|cs Czech|cy Welsh|da Danish|de German|el Greek|en English|eo Esperanto|es Spanish
et Estonian|eu Basque|fa Persian|fi Finnish|fil Filipino|fo Faroese|fr French|fy Western Frisian
ga Irish|gd Scottish Gaelic|gl Galician|gu Gujarati|ha Hausa|he Hebrew|hi Hindi|hr Croatian
ht Haitian Creole|hu Hungarian|hy Armenian|id Indonesian|ig Igbo|is Icelandic|it Italian|ja Japanese
jv Javanese|ka Georgian|kk Kazakh|km Khmer|kn Kannada|ko Korean|ku Kurdish|ky Kyrgyz|la Latin
lb Luxembourgish|lo Lao|lt Lithuanian|lv Latvian|mg Malagasy|mi Maori|mk Macedonian|ml Malayalam
mn Mongolian|mr Marathi|ms Malay|mt Maltese|my Burmese|nb Norwegian Bokmål|ne Nepali|nl Dutch
nn Norwegian Nynorsk|no Norwegian|oc Occitan|pa Punjabi|pl Polish|ps Pashto|pt Portuguese
pt-br Portuguese (Brazil)|pt-pt Portuguese (Portugal)|rm Romansh|ro Romanian|ru Russian
rw Kinyarwanda
sd Sindhi|si Sinhala|sk Slovak|sl Slovenian|so Somali|sq Albanian|sr Serbian|su Sundanese|sv Swedish
sw Swahili|ta Tamil|te Telugu|tg Tajik|th Thai|tk Turkmen|tl Tagalog|tr Turkish|tt Tatar|ug Uyghur
uk Ukrainian|ur Urdu|uz Uzbek|vi Vietnamese|wo Wolof|xh Xhosa|yi Yiddish|yo Yoruba|zh Chinese
zh-hans Chinese (simplified)|zh-hant Chinese (traditional)|zu Zulu|en-gb English (British)
en-us English (American)
"""
_BY_CODE = dict(
    entry.split(" ", 1) for line in _NAMES.strip().splitlines() for entry in line.split("|")
)
_OTHER_CODES = {"pb": "pt-br", "zt": "zh-hant", "zh-cn": "zh-hans", "zh-tw": "zh-hant", "iw": "he"}


def name_of(code: str) -> str:
    """Return the English name of a language, or its code if it is not known here."""
    folded = fold(code)
    return _BY_CODE.get(folded) or _BY_CODE.get(folded.partition("-")[0]) or code


def fold(code: str) -> str:
    """Write a code in the one way in which codes are compared."""
    plain = code.strip().lower().replace("_", "-")
    return _OTHER_CODES.get(plain, plain)


def match(code: str, known: Iterable[str]) -> str | None:
    """Find a language among those that are known: the same, or else one of the same name."""
    by_fold = {fold(each): each for each in known}
    wanted = fold(code)
    if wanted in by_fold:
        return by_fold[wanted]
    base = wanted.partition("-")[0]
    of_base = [each for folded, each in by_fold.items() if folded.partition("-")[0] == base]
    return by_fold.get(base) or (of_base[0] if len(of_base) == 1 else None)
