from concurrent.futures import ThreadPoolExecutor

import pytest

import heedful
from heedful.decoding.hypothesis import Hypothesis, Reading, Sampling
from heedful.errors import ConfigError
from heedful.specials import EOS
from heedful.text.tokenizer import TokenizerConfig, train_tokenizer
from heedful.text.words import find_words
from heedful.translation.draft import without_tags
from heedful.translation.steering import prefix_pieces
from heedful.translation.translator import Translation, Translator
from tests.conftest import SilentEngine


class Expecting(SilentEngine):
    """An engine that expects one piece above all others."""

    def __init__(self, tokenizer, expected, likely_as_written=-9.0):
        self.tokenizer, self.expected = tokenizer, expected
        self.likely_as_written = likely_as_written

    def next_pieces(self, source, prefix):
        pieces = self.tokenizer.pieces(range(self.tokenizer.vocab_size))
        return [-1.0 if piece == self.expected else -5.0 for piece in pieces]

    def read(self, sources, targets):
        return [Reading(tuple([self.likely_as_written] * (len(t) + 1)), ()) for t in targets]


@pytest.fixture
def tokenizer(model_folder):
    return model_folder.tokenizer()


def long_piece(tokenizer) -> str:
    return max(tokenizer.pieces(tokenizer.merged_ids), key=len)


def test_a_word_that_is_not_finished_becomes_the_likeliest_piece_that_begins_like_it(tokenizer):
    piece = long_piece(tokenizer)  # such as "▁A", cut after "▁"
    prefix = f"{piece.replace('▁', ' ')}".strip()

    chosen = prefix_pieces(Expecting(tokenizer, piece), tokenizer, [5], prefix)

    assert tokenizer.pieces(chosen) == [piece]


def test_a_word_as_it_stands_is_kept_if_it_is_likelier(tokenizer):
    engine = Expecting(tokenizer, "", likely_as_written=-0.1)

    assert prefix_pieces(engine, tokenizer, [5], "xyz") == tokenizer.encode("xyz")


def test_after_a_space_a_new_word_begins(tokenizer):
    chosen = prefix_pieces(Expecting(tokenizer, ""), tokenizer, [5], "xyz ")

    *whole, last = chosen
    assert whole == tokenizer.encode("xyz")
    assert tokenizer.pieces([last])[0].startswith("▁")


@pytest.mark.parametrize("prefix", ["", " "])
def test_no_prefix_forces_nothing(tokenizer, prefix):
    assert prefix_pieces(Expecting(tokenizer, ""), tokenizer, [5], prefix) == []


@pytest.mark.parametrize("engine", ["ctranslate2", "pytorch"])
@pytest.mark.parametrize("prefix", ["A", "B A ", "Zebra", "日本"])
def test_a_translation_begins_as_told(model_folder, engine, prefix):
    translator = heedful.load(model_folder.path, engine=engine)

    assert translator.translate("a b c", prefix=prefix).text.startswith(prefix.strip())


class Obedient(Expecting):
    """An engine that begins as it is told, and goes on with the source."""

    def search(self, sources, config, prefixes=(), **options):
        begun = prefixes or [()] * len(sources)
        pairs = zip(begun, sources, strict=True)
        return [[Hypothesis((*prefix, *source), -1.0)] for prefix, source in pairs]


def test_of_several_sentences_the_first_begins_as_told(tokenizer):
    engine = Obedient(tokenizer, "", likely_as_written=-0.1)

    translation = Translator(tokenizer, engine).translate("a b\nc d", prefix="xyz")

    assert translation.text == "xyz a b\nc d"
    assert translation.sentences == (("a b", "xyz a b"), ("c d", "c d"))


def test_other_words_are_found_with_what_follows_them_likeliest_first(model_folder):
    translator = heedful.load(model_folder.path)
    translation = translator.translate("a b c", prefix="A B C")

    others = translator.alternatives(translation, 1, count=3)

    words = [other.word for other in others]
    assert 0 < len(words) == len(set(words)) <= 3
    assert "B" not in words
    assert all(other.text.startswith("A") for other in others)


class Choosing(SilentEngine):
    """An engine that likes some pieces, and always ends in one more of them."""

    def __init__(self, likely, last):
        self.likely, self.last = likely, last

    def next_pieces(self, source, prefix):
        return [self.likely.get(piece, -9.0) for piece in range(320)]

    def search(self, sources, config, prefixes=(), **options):
        return [[Hypothesis((*prefix, self.last), -2.0)] for prefix in prefixes]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_an_alternative_is_scored_from_its_own_word_on(tokenizer, alpha):
    """What was forced counts as certain in a search: its log-probability is that of the rest."""
    d, e = tokenizer.encode("D E")
    engine = Choosing({d: -0.7, e: -0.2}, last=e)
    translation = Translation(source="a b", text="A B", score=0.0, sentences=(("a b", "A B"),))
    others = Translator(tokenizer, engine).alternatives(translation, 1, count=2, alpha=alpha)

    assert [other.text for other in others] == ["A E E", "A D E"]
    num_pieces = len(tokenizer.encode("A D E")) + 1
    assert [other.score for other in others] == pytest.approx(
        [(-2.0 + own) / ((5 + num_pieces) / 6) ** alpha for own in (-0.2, -0.7)]
    )


def two_words(source: str = "a b", text: str = "A B") -> Translation:
    return Translation(source=source, text=text, score=0.0, sentences=((source, text),))


def test_the_word_itself_is_no_alternative_and_takes_the_place_of_none(tokenizer):
    b, d = tokenizer.encode("B D")
    engine = Choosing({b: -0.1, d: -0.7}, last=d)

    others = Translator(tokenizer, engine).alternatives(two_words(), 1, count=1)

    assert [other.word for other in others] == ["D"]


def test_a_piece_that_would_change_the_word_before_is_no_alternative(tokenizer):
    c, d = tokenizer.encode("C D")
    inner = tokenizer.pieces(range(tokenizer.vocab_size)).index("C")
    engine = Choosing({inner: -0.1, c: -0.7}, last=d)

    others = Translator(tokenizer, engine).alternatives(two_words(), 1, count=1)

    assert [other.text for other in others] == ["A C D"]


def test_of_two_sentences_alike_the_one_that_has_the_word_is_changed(tokenizer):
    c, d = tokenizer.encode("C D")
    translation = Translation(
        source="a b\na b", text="A B\nA B", score=0.0, sentences=(("a b", "A B"),) * 2
    )

    first, second = (
        Translator(tokenizer, Choosing({c: -0.1}, last=d)).alternatives(translation, word, count=1)
        for word in (1, 3)
    )

    assert [other.text for other in first] == ["A C D\nA B"]
    assert [other.text for other in second] == ["A B\nA C D"]


def test_how_a_sentence_would_end_says_nothing_of_an_unfinished_word():
    tokenizer = train_tokenizer(lambda: iter(["house", "ho u"] * 30), TokenizerConfig())

    class Unending(Expecting):
        def read(self, sources, targets):
            return [Reading((*([-0.1] * len(target)), -99.0), ()) for target in targets]

    engine = Unending(tokenizer, "▁house")  # of -1, where the pieces of "hou" have -0.1 each

    assert tokenizer.knows("▁house")
    assert prefix_pieces(engine, tokenizer, [5], "hou") == tokenizer.encode("hou")


def test_no_alternative_begins_with_an_end(model_folder):
    engine = heedful.load(model_folder.path, engine="pytorch").engine
    tokenizer, asked = model_folder.tokenizer(), []

    class Ending(SilentEngine):
        """Expects nothing but the end, and reserved pieces."""

        def search(self, sources, config, prefixes=(), **options):
            asked.extend(prefixes)
            return engine.search(sources, config, prefixes=prefixes, **options)

        def next_pieces(self, source, prefix):
            return [0.0] * 4 + [-9.0] * (tokenizer.vocab_size - 4)

    translator = Translator(tokenizer, Ending())
    translation = translator.translate("a b", beam_size=1)
    asked.clear()

    translator.alternatives(translation, 0)

    assert asked
    assert all(prefix[-1] > EOS for prefix in asked)


def test_a_prefix_is_not_taken_for_the_name_of_a_reserved_piece(tokenizer):
    chosen = prefix_pieces(Expecting(tokenizer, "</s>"), tokenizer, [5], "a<")

    assert EOS not in chosen
    assert tokenizer.decode(chosen).startswith("a<")


def test_a_word_that_is_not_there_has_no_alternatives(model_folder):
    translator = heedful.load(model_folder.path)
    translation = translator.translate("a b", prefix="A B")

    with pytest.raises(ConfigError, match=r"there is no word 999 in 'A B.*'; count from 0 to \d+"):
        translator.alternatives(translation, 999)


def test_alternatives_are_found_in_the_sentence_that_has_the_word(model_folder):
    translator = heedful.load(model_folder.path)
    text = "<b>This</b> is a b.\n\tThat is <i>c</i> d."
    translation = translator.translate(text)
    (_, first), (source, _) = translation.sentences
    num_first = len(find_words(without_tags(first)))

    others = translator.alternatives(translation, num_first)

    alone = translator.alternatives(translator.translate(source), 0)
    assert [other.word for other in others] == [other.word for other in alone]
    assert [other.text for other in others] == [f"{first}\n\t{other.text}" for other in alone]
    assert others


@pytest.mark.parametrize("engine", ["ctranslate2", "pytorch"])
def test_the_same_seed_translates_the_same_again(model_folder, engine):
    translator = heedful.load(model_folder.path, engine=engine)
    texts = ["a b c", "d e f a"]

    first, again, other = (
        [t.text for t in translator.translate(texts, sampling=Sampling(seed=seed, top_k=50))]
        for seed in (1, 1, 2)
    )

    assert first == again != other


@pytest.mark.parametrize("engine", ["ctranslate2", "pytorch"])
def test_the_chunks_of_a_long_text_do_not_draw_alike(model_folder, engine, monkeypatch):
    monkeypatch.setattr("heedful.translation.translator.CHUNK", 3)
    translator = heedful.load(model_folder.path, engine=engine)
    lines = [*["a b c"] * 3, *["a b c"] * 2, "d"]

    first, again = (
        [t.text for t in translator.translate_lines(lines, sampling=Sampling(seed=1))]
        for _ in range(2)
    )

    assert first == again
    assert first[:2] != first[3:5]  # the same text in the same place, in other company


def test_a_seed_holds_whoever_draws_beside_it(model_folder):
    translator = heedful.load(model_folder.path)

    def drawn(seed: int) -> str:
        return translator.translate("a b c d e f", sampling=Sampling(seed=seed)).text

    alone = [drawn(seed) for seed in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert [list(pool.map(drawn, range(6))) for _ in range(5)] == [alone] * 5


def test_a_prefix_longer_than_any_translation_is_refused(model_folder):
    translator = heedful.load(model_folder.path)

    with pytest.raises(
        ConfigError, match=r"the prefix has 3,000 pieces, and the model writes 2,04"
    ):
        translator.translate("a", prefix="a " * 3_000)


def test_sampling_with_a_beam_is_refused(model_folder):
    translator = heedful.load(model_folder.path)

    with pytest.raises(ConfigError, match=r"takes no beam_size = 4; for another"):
        translator.translate("a", beam_size=4, sampling=Sampling())
