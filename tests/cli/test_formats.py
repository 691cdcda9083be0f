import json

from heedful.cli.formats import written
from heedful.translation.details import Details
from heedful.translation.sentence import Candidate
from heedful.translation.translator import Translation

TRANSLATION = Translation(
    source="a\tb",
    text="B\nA",
    score=-0.5,
    alternatives=(Candidate(text="A", score=-1.0),),
    flags=("length",),
    details=Details(
        source_words=("a", "b"),
        words=("B", "A"),
        confidences=(0.25, 1.0),
        alignment=((1, 0), (0, 1)),
    ),
)


def test_as_text_it_is_its_text_or_the_best_with_their_scores():
    assert list(written(TRANSLATION, "text")) == ["B\nA"]
    assert list(written(TRANSLATION, "text", n_best=2)) == ["-0.5000\tB\nA", "-1.0000\tA"]


def test_a_row_has_no_breaks_inside():
    (row,) = written(TRANSLATION, "tsv")

    assert row == "a b\tB A\t-0.5000\t0.5000\t1-0 0-1\tlength"


def test_json_has_everything():
    (line,) = written(TRANSLATION, "jsonl")

    assert json.loads(line) == {
        "source": "a\tb",
        "text": "B\nA",
        "score": -0.5,
        "confidence": 0.5,
        "flags": ["length"],
        "source_words": ["a", "b"],
        "words": [{"text": "B", "confidence": 0.25}, {"text": "A", "confidence": 1.0}],
        "alignment": [[1, 0], [0, 1]],
        "alternatives": [{"text": "A", "score": -1.0}],
    }
