from heedful.cli.conversation import shaded
from heedful.translation.details import Details
from heedful.translation.translator import Translation


def test_words_are_coloured_by_how_sure_the_model_is():
    details = Details(words=("sure", "fair", "sure"), confidences=(0.9, 0.5, 0.1))
    translation = Translation(source="", text="sure, fair sure", score=0.0, details=details)

    coloured = shaded(translation)

    assert coloured.plain == "sure, fair sure"
    assert [(span.start, span.end, span.style) for span in coloured.spans] == [
        (6, 10, "yellow"),
        (11, 15, "red"),
    ]


def test_a_word_that_does_not_stand_in_the_text_is_passed_over():
    details = Details(words=("gone", "there"), confidences=(0.1, 0.1))
    translation = Translation(source="", text="there", score=0.0, details=details)

    assert [(span.start, span.end) for span in shaded(translation).spans] == [(0, 5)]
