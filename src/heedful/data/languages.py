"""Languages by their codes, as people give them and as the names of files end in them."""

import re
from pathlib import Path

from heedful.errors import ConfigError

_CODE = re.compile(r"[a-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
_CODE_OF_FILE = re.compile(r"([a-z]{2})([-_][A-Z][A-Za-z]+)*")
_ENDINGS = (".gz", ".txt")  # that say nothing of a language
_TWO_LETTERS = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia
id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo
lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl
ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk
tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""  # ISO 639-1


def language_of_file(name: str) -> str:
    """Return the code that a name like `train.en`, `fr.txt` or `x.pt-BR.gz` ends in, or nothing."""
    stem = Path(name).name
    while (path := Path(stem)).suffix in _ENDINGS:
        stem = path.stem
    code = _CODE_OF_FILE.fullmatch(stem.rpartition(".")[2])
    return code[0] if code and code[1] in _TWO_LETTERS.split() else ""


def is_code(text: str) -> bool:
    """Whether a text is spelt as the code of a language."""
    return bool(_CODE.fullmatch(text))


def refuse_no_code(code: str) -> None:
    """Refuse what is stated as a language and is no code of one."""
    if code and not is_code(code):
        raise ConfigError(f"'{code}' is no code of a language; write it as in en, fr or pt-BR")
