import math

import pytest

import heedful
from heedful.decoding.hypothesis import Reading
from heedful.translation.details import Details, join_details, read_details
from tests.conftest import SilentEngine


class Reader(SilentEngine):
    """An engine that finds all pieces equally likely, and looks straight ahead."""

    def read(self, sources, targets):
        return [
            Reading(
                tuple([math.log(0.5)] * len(target) + [0.0]),
                tuple(tuple(float(i == j) for j in range(len(source))) for i in range(len(target))),
            )
            for source, target in zip(sources, targets, strict=True)
        ]


def test_a_word_is_as_likely_as_its_pieces_together_and_a_text_as_its_words_on_average(
    model_folder,
):
    tokenizer = model_folder.tokenizer()
    num_pieces = len(tokenizer.encode("xyz"))

    (details,) = read_details(tokenizer, Reader(), [("a xyz", "a xyz")])

    assert details.source_words == details.words == ("a", "xyz")
    assert details.confidences == pytest.approx((0.5, 0.5**num_pieces))
    assert details.confidence == pytest.approx(0.5 ** ((1 + num_pieces) / 2))
    assert details.alignment == ((0, 0), (1, 1))


def test_a_text_of_one_word_is_as_sure_as_that_word(model_folder):
    (details,) = read_details(model_folder.tokenizer(), Reader(), [("b a", "xyz")])

    assert details.confidence == pytest.approx(details.confidences[0])


def test_what_is_empty_has_no_words_and_is_certain(model_folder):
    (details, other) = read_details(model_folder.tokenizer(), Reader(), [("", ""), ("a", "")])

    assert details == Details()
    assert details.confidence == 1.0
    assert (other.source_words, other.words, other.alignment) == (("a",), (), ())


def test_tags_are_no_words_and_capitals_are_read_as_ordinary_text(model_folder):
    tokenizer = model_folder.tokenizer()
    read = []

    class Noting(Reader):
        def read(self, sources, targets):
            read.extend([*sources, *targets])
            return super().read(sources, targets)

    (tagged, shouted) = read_details(
        tokenizer, Noting(), [("a <b>bc</b>", "<b>bc</b> a"), ("ABC DEF GHI", "BBB <i>CCC</i> DDD")]
    )
    read_details(tokenizer, Noting(), [("ABC {d} DEF GHI", "BBB {d} CCC DDD")])

    assert (tagged.source_words, tagged.words) == (("a", "bc"), ("bc", "a"))
    assert (shouted.source_words, shouted.words) == (("ABC", "DEF", "GHI"), ("BBB", "CCC", "DDD"))
    assert [tokenizer.decode(ids).lower() for ids in read] == [
        *("a bc", "abc def ghi", "bc a", "bbb ccc ddd", "abc {d} def ghi", "bbb {d} ccc ddd")
    ]
    assert all(tokenizer.decode(ids)[1:].islower() for ids in read)


def test_sentences_are_counted_on():
    first = Details(source_words=("a", "b"), words=("A",), confidences=(0.5,), alignment=((1, 0),))

    joined = join_details([first, first])

    assert joined.words == ("A", "A")
    assert joined.alignment == ((1, 0), (3, 1))


@pytest.mark.parametrize("engine", ["ctranslate2", "pytorch"])
def test_a_translation_is_told_word_by_word_if_asked(model_folder, engine):
    translator = heedful.load(model_folder.path, engine=engine)

    plain, told = translator.translate("a b c"), translator.translate("a b c", details=True)

    assert plain.details is None
    assert told.text == plain.text
    assert told.details.source_words == ("a", "b", "c")
    assert len(told.details.confidences) == len(told.details.words)
    assert 0 < told.details.confidence < 1


def test_a_text_of_several_sentences_is_one_list_of_words(model_folder):
    translator = heedful.load(model_folder.path)

    told = translator.translate("This is a b.\nThat is c d.", details=True)

    assert len(told.sentences) == 2
    assert told.details.source_words == (
        *("This", "is", "a", "b", "."),
        *("That", "is", "c", "d", "."),
    )
    assert max(source for source, _ in told.details.alignment) >= 5
