import pytest

from heedful.server.languages import match, name_of


@pytest.mark.parametrize(
    ("code", "name"),
    [("de", "German"), ("pt-BR", "Portuguese (Brazil)"), ("PT", "Portuguese"), ("de_CH", "German"),
     ("zt", "Chinese (traditional)"), ("qqq", "qqq")],
)  # fmt: skip
def test_languages_have_names(code, name):
    assert name_of(code) == name


@pytest.mark.parametrize(
    ("code", "known", "found"),
    [
        ("de", ["en", "de"], "de"),
        ("DE-de", ["en", "de"], "de"),
        ("pt", ["pt-BR"], "pt-BR"),
        ("pb", ["pt-BR", "pt"], "pt-BR"),
        ("pt-PT", ["pt-BR", "pt"], "pt"),
        ("pt", ["pt-BR", "pt-PT"], None),
        ("EN-US", ["en"], "en"),
        ("zh-Hant", ["zh", "zt"], "zt"),
        ("", ["en"], None),
        ("e", ["en"], None),
    ],
)
def test_a_language_is_found_by_what_clients_call_it(code, known, found):
    assert match(code, known) == found
