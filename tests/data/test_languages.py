from dataclasses import replace

import pytest

from heedful.data.files import DataConfig
from heedful.data.languages import language_of_file
from heedful.errors import ConfigError
from heedful.storage.languages import Direction


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
    named = DataConfig(source="a.en", target="a.no")
    assert named.direction == Direction("en", "no")
    assert replace(named, to_language="nb").direction == Direction("en", "nb")
    stated = DataConfig(source="pairs.tsv", from_language="de")
    assert stated.direction == Direction("de", "")


def test_the_name_of_a_language_is_refused_in_place_of_its_code():
    with pytest.raises(ConfigError, match="'English' is no code of a language; write it as in en"):
        DataConfig(source="a", from_language="English")
