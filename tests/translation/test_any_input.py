"""Whatever is put in, and whatever the model makes of it: nothing is lost, nothing is harmed."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.decoding.hypothesis import Hypothesis, Reading
from heedful.errors import CorpusError
from heedful.storage.habits import Habits
from heedful.text.glossary import Glossary
from heedful.text.spans import Span, find_copies, find_tags
from heedful.text.tokenizer import TokenizerConfig, train_tokenizer
from heedful.text.words import Word, join_words
from heedful.translation.draft import drafts_of
from heedful.translation.links import link_words
from heedful.translation.restore import restore
from heedful.translation.translator import Translator
from tests.conftest import SilentEngine

WORDS = "The the old man saw a dog and Two cats near Bank House in 1984 or 22 %s {name} <> & . , !"
TOKENIZER = train_tokenizer(
    lambda: iter([WORDS, WORDS.lower(), "abcdefghijklmnopqrstuvwxyz", "0123456789"] * 20),
    TokenizerConfig(vocab_size=400),
)


class Words(SilentEngine):
    """An engine that rewrites the list of source words; a word looks at the one it came from."""

    def __init__(self, rewrite):
        self.rewrite = rewrite
        self.calls, self.looks = [], 0

    def search(self, sources, config, no_repeat=0, **options):
        self.calls.append((len(sources), no_repeat))
        return [[self.hypothesis(source, no_repeat)] for source in sources]

    def hypothesis(self, source, no_repeat):
        if no_repeat:
            return Hypothesis(tuple(source), -1.0)
        return Hypothesis(tuple(piece for piece, _ in self.written(source)), -1.0)

    def look(self, sources, targets):
        self.looks += len(sources)
        for source, target in zip(sources, targets, strict=True):
            rows = [row for _, row in self.written(source)] or [(1.0,) * len(source)]
            yield tuple(rows[min(at, len(rows) - 1)] for at in range(len(target)))

    def read(self, sources, targets):
        return [Reading((0.0,) * (len(target) + 1), ()) for target in targets]

    def written(self, source):
        """Write pieces, each with where it looks."""
        words = self.cut(source)
        for text, origin in self.rewrite([TOKENIZER.decode(word) for word, _ in words]):
            start, length = words[origin][1], len(words[origin][0])
            row = tuple(float(start <= at < start + length) for at in range(len(source)))
            yield from ((piece, row) for piece in TOKENIZER.encode(text))

    def cut(self, source):
        """Give each word's ids and where they begin."""
        spelt = TOKENIZER.pieces(source)
        starts = [at for at, piece in enumerate(spelt) if piece.startswith("▁") or not at]
        return [
            (source[start:end], start)
            for start, end in zip(starts, [*starts[1:], len(source)], strict=True)
        ]


def echo(words):
    return [(word, at) for at, word in enumerate(words)]


def backwards(words):
    return echo(words)[::-1]


def mangle(words):
    """Translate whatever is no plain word into nonsense."""
    return [(word if word.isalpha() else "dog", at) for at, word in enumerate(words)]


def nothing(words):
    return []


def nonsense(words):
    return [("dog {name} 22 %s", 0)]


def looping(words):
    return [(words[0], 0)] * 60


def translate(text, rewrite=echo, **options):
    return Translator(TOKENIZER, Words(rewrite)).translate(text, **options)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t ",
        "  a dog  ",
        "a dog\r",
        "a\tdog\nand\r\n\r\ntwo cats",
        "a dog\0and\x1ba cat",
        "\ufeffa dog",
        "cafe\u0301".encode().decode().replace("e\u0301", "é"),
        "👨‍👩‍👧 🇩🇪 a dog 👍🏽",
        "a dog.  Two cats",
        "a    dog",
        "<p>a dog</p>\n\n<p>Two cats</p>",
        "1️⃣ a dog ©️ ❤️‍🔥",
        "10 000 dogs saw 030 123456 and 22 33 cats",
        "a dog in 1984: Two cats",
        "a dog near http://x.y and http://x.y/z or {name} and {{name}}",
        "мир and мира",
        "a dog 5€ ½",
        "<a title='A  B'>dog</a> and {{  name  }}",
        "a <b\nclass='x'>dog</b>",
        "a dog near http://x.y/cafe\u0301",
    ],
)
def test_a_text_that_is_only_echoed_comes_back_as_it_was(text):
    translation = translate(text)

    assert translation.text == text
    assert translation.flags == ()


@pytest.mark.parametrize("text", ["مرحبا بالعالم", "東京 2020", "<b>東京</b>", "МИР!  И МИР"])
def test_letters_of_which_none_is_known_stay_as_they_are_and_are_flagged(text):
    translation = translate(text)

    assert translation.text == text
    assert translation.flags == ("script",)


@pytest.mark.parametrize("text", ["5", "http://東.京", "{東}", "a 東", "A DOG", "👍", ""])
def test_what_has_no_letters_to_read_or_some_that_are_known_is_not_flagged(text):
    assert "script" not in translate(text).flags


def test_a_term_in_letters_that_are_not_known_is_translated_all_the_same():
    assert translate("東京", glossary={"東京": "Tokyo"}).text == "Tokyo"


@pytest.mark.parametrize(
    "text",
    [
        "\u200ea dog\u200f",
        "\ufeff\u200b a dog \u00ad",
        "the \u2067old dog\u2069 saw",
        "<b>dog</b><i>cats</i><x/>",
        "<b>13</b><i>14</i><u>15</u> dogs",
        "dog😀cats",
        "a dog \ue123 \U000f0000 \U000e0999 \u0301 near",
        "a dog -12 or -$5.00 or 1/2 in 2021-05-03 at 192.168.0.1:8080",
        "a dog #hashtag2021 @some_body",
    ],
)
def test_what_is_not_seen_or_touches_comes_back_where_it_was(text):
    translation = translate(text)

    assert translation.text == text
    assert translation.flags == ()


def test_a_mark_inside_a_sentence_is_not_read_and_flagged():
    seen = []

    def read(words):
        seen.extend(words)
        return echo(words)

    translation = translate("the d\u00adog \u200bsaw", read)

    assert " ".join(seen) == "the dog saw"
    assert (translation.text, translation.flags) == ("the dog saw", ("invisible",))


@pytest.mark.parametrize(
    ("text", "number"),
    [("a dog -22", "-22"), ("a dog 1/2", "1/2"), ("a dog 22-24", "22-24"), ("a dog 2.5", "2.5")],
)
@pytest.mark.parametrize("lost", ["22", "12", "25", "24", "2"])
def test_a_number_that_loses_a_part_is_put_back_whole(text, number, lost):
    def lose(words):
        return [(lost if number in word else word, at) for at, word in enumerate(words)]

    assert translate(text, lose).text == text


@pytest.mark.parametrize("text", ["a dög saw cats", "A DÖG SAW CATS", "мир and a dög"])
def test_an_unknown_letter_in_a_word_that_is_lost_is_flagged(text):
    kept, lost = (translate(text, rewrite) for rewrite in (echo, lambda words: echo(words[:1])))

    assert kept.flags == ()
    assert "letters" in lost.flags


@pytest.mark.parametrize("most_pieces", [1, 2, 3, 5])
def test_a_model_that_reads_less_than_a_character_ends_all_the_same(most_pieces):
    engine = Words(echo)
    engine.most_pieces = most_pieces

    assert Translator(TOKENIZER, engine).translate("ab 😀 dög").text == "ab 😀 dög"


@pytest.mark.slow
def test_a_line_of_a_megabyte_is_translated():
    text = "the old dog " * 80_000

    assert translate(text).text == text


def test_of_a_line_with_many_sentences_a_few_thousand_are_held_ready_at_once():
    engine, text = Words(echo), "dog\x01" * 10_000

    assert Translator(TOKENIZER, engine).translate(text).text == text
    assert sum(number for number, _ in engine.calls) == 10_000
    assert max(number for number, _ in engine.calls) < 5_000


def test_paragraphs_and_spacing_of_a_long_text_come_back():
    text = "\n\n".join([" ".join(["The old man saw a dog."] * 20)] * 3)
    engine = Words(lambda words: [("cats", 0)])

    translation = Translator(TOKENIZER, engine).translate(text)

    assert translation.text == "\n\n".join([" ".join(["cats"] * 20)] * 3)
    assert engine.calls == [(60, 0)]


@pytest.mark.parametrize("rewrite", [echo, backwards, mangle, nothing, nonsense])
@pytest.mark.parametrize(
    "text",
    [
        "see https://a.b/c?d=e or mail me@x.org !",
        "the {name} saw %s and {name}",
        "Bank &amp; House",
        "a dog in 1984 or 1,234.5 cats",
    ],
)
def test_protected_spans_come_through_whatever_the_model_does(text, rewrite):
    translated = translate(text, rewrite).text

    for span, count in Counter(copy.text for copy in find_copies(text)).items():
        assert translated.count(span) == count
    for number in ("1984", "1,234.5"):
        assert (number in translated) == (number in text)


FRAGMENTS = st.sampled_from(
    ["dog", "old", "Two", "{name}", "%s", "<b>", "</b>", "<x/>", "http://x.y/z", "22", "😀", "мир",
     ".", "!", "\t", "\n", "\0", "THE", "  ", "{{  x  }}", "http://x.y", "1 984", "<i  x>", "€"]
)  # fmt: skip


@settings(max_examples=150)
@given(
    st.one_of(st.lists(FRAGMENTS, max_size=12).map(" ".join), st.text(max_size=30)),
    st.sampled_from([echo, backwards, mangle, nothing, nonsense, looping]),
)
def test_no_text_and_no_model_lose_a_span_a_tag_or_a_line(text, rewrite):
    translated = translate(text, rewrite).text

    for copy, number in Counter(copy.text for copy in find_copies(text)).items():
        assert translated.count(copy) >= number
    assert sorted(m.group() for m in find_tags(translated)) == sorted(
        m.group() for m in find_tags(text)
    )
    assert re.findall(r"[\t\n\0\r]", translated) == re.findall(r"[\t\n\0\r]", text)


def test_tags_go_around_the_words_that_translate_what_they_were_around():
    text = "the <b>old man</b> saw <i>a dog</i>"

    assert translate(text, backwards).text == "<i>dog a</i> saw <b>man old</b> the"


def test_quotes_spelt_as_entities_are_kept_unless_the_model_learned_them():
    text, dropped = "the dog &apos;s cats", Words(lambda words: [("dog", 0)])
    learned = train_tokenizer(
        lambda: iter([f"{WORDS} {text}"] * 20), TokenizerConfig(vocab_size=400)
    )

    assert "&apos;" in Translator(TOKENIZER, dropped).translate(text).text
    assert learned.knows("apos")
    assert drafts_of(text, learned, Glossary({}))[0].spans == ()


def test_a_span_that_no_word_looked_at_most_goes_to_the_word_that_looked_at_it_most():
    source, target = ["the", " dog"], ["a", " cat"]

    words = link_words(source, target, ((0.9, 0.1), (0.6, 0.4)))

    assert [word.source for word in words] == [0, 0]
    assert [word.looked_at for word in words] == [(0,), (4,)]
    restored = restore(words, [Span(4, 7, "chien", "term")], "the dog")
    assert join_words(restored) == "a chien"


def other(words):
    """Translate a word that was joined by anything strange into another."""
    is_alone = all(word.strip(".").isalpha() for word in words)
    return [(word if is_alone else "cats", at) for at, word in enumerate(words)]


@pytest.mark.parametrize(
    ("text", "translated", "flags"),
    [
        ("the old dog http://x.y/z", "the old dog http://x.y/z", ()),
        ("the old dog (http://x.y/z).", "the old dog (http://x.y/z).", ()),
        ("{name}, the old dog", "{name}, the old dog", ()),
        ("the {name} dog %s", "the {name} dog %s", ()),
        ("the old dog 1984", "the old dog 1984", ()),
        ("the 1984 old dog", "the 1984 old dog", ()),
        ("<b>the</b> old {name} <i>dog</i>", "<b>the</b> old {name} <i>dog</i>", ()),
    ],
)
def test_what_must_stay_is_added_and_never_written_over_a_word(text, translated, flags):
    translation = translate(text, other)

    assert (translation.text, translation.flags) == (translated, flags)


def test_a_place_that_is_not_certain_is_flagged():
    def swap(words):
        return echo(words)[::-1] if all(map(str.isalpha, words)) else [("cats", 0)]

    translation = translate("the old {name} dog", swap)

    assert translation.flags == ("placed",)
    assert sorted(translation.text.split()) == ["dog", "old", "the", "{name}"]


def test_a_garbled_span_is_made_whole_where_it_stands():
    def garble(words):
        return [(word.replace("{", "").replace("84", "48"), at) for at, word in enumerate(words)]

    assert translate("the {name} dog in 1984 saw", garble).text == "the {name} dog in 1984 saw"


class Sure(Words):
    """Is surer of words than of what has a number in it."""

    def hypothesis(self, source, no_repeat):
        score = -1.0 if any(map(str.isdigit, TOKENIZER.decode(source))) else -0.5
        return Hypothesis(super().hypothesis(source, no_repeat).pieces, score)


def test_a_number_at_an_end_that_took_the_place_of_a_word_is_added_to_it():
    def overwrite(words):
        return echo(words) if words[-1] != "22" else [*echo(words)[:-2], ("22", len(words) - 1)]

    translation = Translator(TOKENIZER, Sure(overwrite)).translate("the old dog 22")

    assert (translation.text, translation.flags) == ("the old dog 22", ())


def test_a_number_at_an_end_stays_with_the_word_that_belongs_to_it():
    def dated(words):
        return [("or", at) if word == "in" else (word, at) for at, word in enumerate(words)]

    def other_without(words):
        return dated(words) if words[-1] == "1984" else echo(words)

    assert Translator(TOKENIZER, Sure(other_without)).translate("a dog in 1984").text == (
        "a dog or 1984"
    )


@pytest.mark.parametrize(("score", "num_searches"), [(-0.004, 1), (-0.006, 2)])
def test_what_a_model_is_all_but_certain_of_is_not_tried_without_its_number(score, num_searches):
    class Certain(Words):
        def hypothesis(self, source, no_repeat):
            return Hypothesis(super().hypothesis(source, no_repeat).pieces, score)

    engine = Certain(echo)

    Translator(TOKENIZER, engine).translate("the old dog 22", alpha=0.0)

    assert len(engine.calls) == num_searches


def test_a_span_that_words_in_two_places_looked_at_is_written_over_neither():
    words = [Word("", "{x", 4), Word(" ", "dog", 0), Word(" ", "{x", 4)]

    assert restore(words, [Span(4, 7, "{x}", "copy")], "the {x}") is None
    assert join_words(restore(words[1:], [Span(4, 7, "{x}", "copy")], "the {x}")) == " dog {x}"


@pytest.mark.parametrize(
    ("text", "rewrite", "flags"),
    [
        ("a dög", echo, ()),
        ("a dög", lambda words: [(word.upper(), at) for at, word in enumerate(words)], ()),
        ("a dög", lambda words: [("a", 0), ("dog", 1)], ("letters",)),
    ],
)
def test_a_strange_letter_may_come_back_as_a_capital_and_is_flagged_if_it_does_not(
    text, rewrite, flags
):
    assert translate(text, rewrite).flags == flags


def test_where_there_is_no_telling_the_parts_are_translated_and_flagged():
    translation = translate("the man saw", lambda words: [("dog", 0)], glossary={"man": "Bank"})

    assert translation.text == "dog Bank dog"
    assert translation.flags == ("parts",)


@pytest.mark.parametrize(
    ("source", "words", "restored"),
    [
        ("Visit us at {x}", [" Besuchen", " uns", "{x}"], " Besuchen uns {x}"),
        ("Dr. {x} said", ["100", "{x}", "sagte"], "100 {x} sagte"),
        ("Visit ({x}) now", [" uns", "(", "{x}", ")"], " uns({x})"),
        ("It is {x} too.", [" Es", " {x}", "."], " Es {x}."),
    ],
)
def test_a_restored_span_is_set_apart_where_the_source_has_spaces(source, words, restored):
    at = source.index("{x}")
    found = [
        Word(
            word[: -len(word.strip())],
            "x}" if "{x}" in word else word.strip(),
            at * ("{x}" in word),
        )
        for word in words
    ]

    assert join_words(restore(found, [Span(at, at + 3, "{x}", "copy")], source)) == restored


@pytest.mark.parametrize(
    "text",
    ["Angela Merkel saw {name} near House", "THE IBM DOG {name} SAW", "The Big iPhone {name} Show"],
)
def test_what_is_left_untranslated_is_left_as_it_was_written(text):
    translation = translate(text, lambda words: [("{name}", 0), ("{name}", 0)])

    assert (translation.text, translation.flags) == (text, ("untranslated",))


@pytest.mark.parametrize(
    "address",
    [
        "http://x.y/😀/z",
        "https://🍕.com",
        "https://x.y/users/<id>/posts",
        "https://x.y/?q={q}",
        "https://x.y/{{ user.id }}/edit",
        "HTTP://X.Y/Z",
    ],
)
def test_nothing_is_torn_out_of_an_address(address):
    translated = translate(f"the dog {address} saw", backwards).text

    assert translated.split(address) in (["saw ", " dog the"], ["saw dog the ", ""])


def test_a_line_that_no_model_can_read_whole_has_no_details():
    class Reader(Words):
        def read(self, sources, targets):
            assert max(map(len, [*sources, *targets])) < self.most_pieces - 1
            return [
                Reading((0.0,) * (len(target) + 1), ((1.0,) * len(source),) * len(target))
                for source, target in zip(sources, targets, strict=True)
            ]

    address = "http://x.y/" + "a" * 6_000

    translation = Translator(TOKENIZER, Reader(echo)).translate(f"a dog\t{address}", details=True)

    assert translation.text == f"a dog\t{address}"
    assert translation.details.words == ("a", "dog")


def test_letters_that_become_longer_by_composing_are_cut_in_time():
    longest = []

    class Measuring(Words):
        def hypothesis(self, source, no_repeat):
            longest.append(len(source))
            return super().hypothesis(source, no_repeat)

    text = "a" + "\U0001d160" * 245 + " dog"

    assert "dog" in Translator(TOKENIZER, Measuring(echo)).translate(text).text
    assert max(longest) < Words.most_pieces - 1


@pytest.mark.parametrize("text", ["http://x.y/\udcff", "<b x=\udcff>a dog</b>", "\udcff"])
def test_halves_of_characters_are_refused_wherever_they_stand(text):
    with pytest.raises(CorpusError, match="is not valid Unicode"):
        translate(text)


def test_a_sentence_with_one_candidate_does_not_hide_those_of_the_others():
    class Rich(Words):
        def search(self, sources, config, no_repeat=0, **options):
            return [
                [Hypothesis(tuple(TOKENIZER.encode(word)), -1.0) for word in ("a dog", "two cats")]
                for _ in sources
            ]

    rich = Translator(TOKENIZER, Rich(echo)).translate("the man\thttp://x.y", n_best=2, beam_size=2)

    assert rich.text == "a dog\thttp://x.y"
    assert [other.text for other in rich.alternatives] == ["two cats\thttp://x.y"]


def test_a_loop_in_a_part_is_flagged():
    translation = translate(
        "the man saw",
        lambda words: [("dog", 0)] * (60 ** (words == ["saw"])),
        glossary={"man": "Bank"},
    )

    assert translation.text == "dog Bank saw"
    assert translation.flags == ("parts", "repetition")


def test_what_no_way_can_keep_is_left_as_it_is_and_flagged():
    translation = translate("the {name} saw", lambda words: [("{name}", 0), ("{name}", 0)])

    assert translation.text == "the {name} saw"
    assert translation.flags == ("untranslated",)


def test_a_number_in_groups_is_one_and_stays_so_in_another_language():
    translation = translate("10 000 dogs", lambda words: [("10.000", 0), ("cats", -1)])

    assert (translation.text, translation.flags) == ("10.000 cats", ())


def test_a_translation_that_ends_at_once_leaves_the_source_and_is_flagged():
    class Mute(Words):
        def hypothesis(self, source, no_repeat):
            return Hypothesis((), -1.0)

    translation = Translator(TOKENIZER, Mute(echo)).translate("the old dog")

    assert translation.text == "the old dog"
    assert translation.flags == ("length", "untranslated")


def test_parts_do_not_begin_with_the_prefix_each():
    class Begun(Words):
        def search(self, sources, config, no_repeat=0, prefixes=(), **options):
            found = super().search(sources, config, no_repeat)
            begun = TOKENIZER.encode("Two") if any(prefixes) else []
            return [[Hypothesis((*begun, *h.pieces), -1.0)] for (h,) in found]

        def next_pieces(self, source, prefix):
            return [0.0] * TOKENIZER.vocab_size

    engine = Begun(lambda words: [("dog", 0)])

    translation = Translator(TOKENIZER, engine).translate(
        "the man saw", prefix="Two", glossary={"man": "Bank"}
    )

    assert translation.text == "dog Bank dog"
    assert translation.flags == ("parts", "prefix")


def test_alternatives_keep_what_a_translation_has_to_keep():
    two, num_the = TOKENIZER.encode("Two")[0], len(TOKENIZER.encode("the"))

    class Other(Words):
        """Mangles what is no word, and would as soon begin with "Two" as with "the"."""

        def search(self, sources, config, no_repeat=0, prefixes=(), **options):
            found = super().search(sources, config, no_repeat)
            if not prefixes:
                return found
            return [
                [Hypothesis((*prefix, *best.pieces[num_the:]), -1.0)]
                for (best,), prefix in zip(found, prefixes, strict=True)
            ]

        def next_pieces(self, source, prefix):
            return [-9.0 * (piece != two) for piece in range(TOKENIZER.vocab_size)]

    translator = Translator(TOKENIZER, Other(mangle))
    translation = translator.translate("the <b>{name}</b> saw 1984")

    best, *_ = translator.alternatives(translation, 0, glossary={"saw": "and"})

    assert best.text == f"{TOKENIZER.decode([two])} <b>{{name}} dog</b> and dog 1984"


def test_of_two_readings_of_a_title_the_one_that_could_be_translated_is_taken():
    class Small(Words):
        """Loses the span when names are read as words, and is surer of that."""

        def hypothesis(self, source, no_repeat):
            found = super().hypothesis(source, no_repeat)
            is_small = "house" in TOKENIZER.decode(source)
            pieces = tuple(TOKENIZER.encode("{name} {name}")) if is_small else found.pieces
            return Hypothesis(pieces, -0.1 if is_small else -5.0)

    translation = Translator(TOKENIZER, Small(echo)).translate("The Bank House Bank {name}")

    assert "untranslated" not in translation.flags
    assert translation.text == "The Bank House Bank {name}"


def test_halves_of_characters_are_refused_however_many():
    with pytest.raises(CorpusError, match="is not valid Unicode"):
        translate("\udcff" * 5_000)


def test_a_loop_is_searched_again_and_flagged():
    translation = translate("the old dog", looping)

    assert translation.text == "the old dog"
    assert translation.flags == ("repetition",)


@pytest.mark.parametrize(
    ("likely", "text", "is_first_ended"),
    [(-0.5, "the old dog", True), (-2.0, "the the", True), (-2.0, "the old dog", False)],
)
def test_a_second_try_stands_only_if_it_is_likelier_or_the_first_never_ended(
    likely, text, is_first_ended
):
    class Doubtful(Words):
        def hypothesis(self, source, no_repeat):
            found = super().hypothesis(source, no_repeat)
            is_finished = bool(no_repeat) or is_first_ended
            return Hypothesis(found.pieces, -1.0 * len(found.pieces), is_finished)

        def read(self, sources, targets):
            return [Reading((likely * 61,) + (0.0,) * len(target), ()) for target in targets]

    translation = Translator(TOKENIZER, Doubtful(looping)).translate("the old dog", alpha=0.0)

    assert translation.text.startswith(text)
    assert translation.flags == ("repetition",)


def test_tries_are_compared_by_score_and_not_by_probability():
    """The loop of 60 pieces has -30 over ((5 + 61) / 6)^1, the second try of some ten -20 over 3.

    So the second is likelier and scores worse, and where α is 0 it scores better.
    """

    class Doubtful(Words):
        def hypothesis(self, source, no_repeat):
            found = super().hypothesis(source, no_repeat)
            return Hypothesis(found.pieces, -30.0)

        def read(self, sources, targets):
            return [Reading((-20.0,) + (0.0,) * len(target), ()) for target in targets]

    translator = Translator(TOKENIZER, Doubtful(looping))

    assert translator.translate("the old dog", alpha=1.0).text.startswith("the the the")
    assert translator.translate("the old dog", alpha=0.0).text == "the old dog"


def test_a_second_try_that_goes_wrong_as_well_does_not_stand():
    class Worse(Words):
        def hypothesis(self, source, no_repeat):
            words = "a a a a a a" if no_repeat else " ".join(["the old"] * 30)
            pieces = TOKENIZER.encode(words) * (9 if no_repeat else 1)
            return Hypothesis(tuple(pieces), -0.1 if no_repeat else -1.0)

    translation = Translator(TOKENIZER, Worse(echo)).translate("the old dog")

    assert translation.text == " ".join(["the old"] * 30)
    assert translation.flags == ("repetition",)


def test_what_the_training_pairs_do_is_no_loop():
    usual, used_to_it = (
        Translator(TOKENIZER, Words(looping), habits=Habits(most_turns=turns)).translate("the old")
        for turns in (4, 60)
    )

    assert usual.flags == ("repetition",)
    assert used_to_it.flags == ("length",)


def test_capitals_are_read_as_ordinary_text_and_carried_over():
    seen = []

    def read(words):
        seen.extend(words)
        return echo(words)

    assert translate("THE OLD MAN SAW {name}", read).text == "THE OLD MAN SAW {name}"
    assert " ".join(seen) == "The old man saw {name}"


def test_a_glossary_decides_how_terms_are_translated():
    terms = {"dog": "chien", "Bank House": ""}

    translated = translate("the dog near Bank House", mangle, glossary=terms).text

    assert translated == "the chien near Bank House"
    assert translate("a dog", lambda words: [("man", 0)], glossary=terms).text == "man chien"


def test_a_term_is_not_there_as_part_of_a_longer_word():
    translated = translate("a dog", lambda words: [("dogs", 1)], glossary={"dog": ""})

    assert translated.text == "dog"


def test_attention_is_asked_for_only_where_it_is_needed():
    engine = Words(echo)

    texts = ["a dog", "a <b>dog</b>", "a 1984 cat", "A CAT near {name}"]
    Translator(TOKENIZER, engine).translate(texts)

    assert engine.looks == 1


def test_controls_that_a_model_spells_in_bytes_do_not_get_out():
    byte = TOKENIZER.pieces(range(TOKENIZER.vocab_size)).index("<0x1B>")

    class Escaping(SilentEngine):
        def search(self, sources, config, **options):
            dog = tuple(TOKENIZER.encode("dog"))
            return [[Hypothesis((*dog, byte, *dog), -1.0)] for _ in sources]

    assert Translator(TOKENIZER, Escaping()).translate("cats").text == "dog dog"
