import pytest

from heedful.data.languages import language_of_file
from heedful.data.prepare import DataConfig
from heedful.errors import ConfigError


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("train.en", "en"),
        ("a.folder.de/train.lc.norm.tok.fr.gz", "fr"),
        ("fr.txt", "fr"),
        ("x.pt-BR.txt.gz", "pt-BR"),
        ("x.zh_Hans", "zh_Hans"),
        ("train.en-fr", ""),  # of both
        ("pairs.tsv", ""),
        ("train.src", ""),
        ("train.up", ""),
        ("en/train", ""),
        ("", ""),
    ],
)
def test_the_name_of_a_file_tells_its_language_where_it_ends_in_a_code(name, language):
    assert language_of_file(name) == language


def test_what_is_stated_goes_before_what_names_tell():
    assert DataConfig(source="a.en", target="a.no").languages == ("en", "no")
    assert DataConfig(source="a.en", target="a.no", to_language="nb").languages == ("en", "nb")
    assert DataConfig(source="pairs.tsv", from_language="de").languages == ("de", "")


def test_the_name_of_a_language_is_refused_in_place_of_its_code():
    with pytest.raises(ConfigError, match="'English' is no code of a language; write it as in en"):
        DataConfig(source="a", from_language="English")
