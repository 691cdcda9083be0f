"""The translator: text in, Translation out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, compress, islice, pairwise, zip_longest
from operator import not_
from pathlib import Path
from typing import Unpack, overload

from heedful.decoding.engine import Engine
from heedful.decoding.hypothesis import SearchConfig
from heedful.errors import (
    ConfigError,
    ModelFolderError,
    missing_extra,
    refuse_other,
    refuse_other_type,
)
from heedful.machine.ahead import ahead
from heedful.model.config import ModelConfig
from heedful.storage.checksums import refuse_mixed
from heedful.storage.folder import ModelFolder
from heedful.storage.habits import Habits
from heedful.storage.languages import UNSTATED, Direction
from heedful.storage.shipped import model_path
from heedful.text.invisible import lacks_invisible
from heedful.text.language_table import Guess, LanguageTable
from heedful.text.normalise import (
    compose,
    normalise,
    refuse_halves,
    refuse_no_text,
    refuse_no_texts,
)
from heedful.text.sentences import LONGEST, cut_text
from heedful.text.tokenizer import Tokenizer
from heedful.text.words import find_words
from heedful.translation.details import Details, join_details, read_details, through
from heedful.translation.direction import DirectedEngine
from heedful.translation.draft import is_unreadable, without_tags
from heedful.translation.guard import USUAL_HABITS
from heedful.translation.options import USUAL, Changes, Options
from heedful.translation.routes import Course, find_course, find_route, grouped
from heedful.translation.sentence import Candidate, SentenceTranslator
from heedful.translation.steering import Alternative, Steering, find_alternatives

CHUNK = 512  # lines translated together, so that lengths can be matched
_CHUNKS_AT_ONCE = 3  # one is cut into pieces or put together while the engine has two


@dataclass(frozen=True, kw_only=True)
class Translation:
    """What became of one text. `str()` of it is the translated text."""

    source: str
    text: str
    score: float
    """Log-probability over the length penalty: higher is better, 0 is certain."""
    alternatives: tuple[Candidate, ...] = ()
    """The next best candidates of the beam, if more than one was asked for."""
    flags: tuple[str, ...] = ()
    """What a reader should look at.

    "repetition" and "length": the search went round more often, or for longer, than what the model
    was trained on ever does, or it ended at once; it was tried again, and the likelier one stayed;
    "placed": what must stay was added, and it is not certain where among the words it belongs;
    "parts": what stands between protected spans was translated on its own;
    "untranslated": not even that kept the spans, so the sentence was left as it is;
    "letters": a letter that the vocabulary does not know, in a word of others, is not in it;
    "script": none of its letters are known to the vocabulary, so it was left as it is;
    "invisible": a mark that is not seen, such as a soft hyphen inside a word, is not in it;
    "prefix": it does not begin as was asked for, since something else had to stand there;
    "through": the model has not learned this way, and went through a third language;
    "language": it is in none of the languages that the model reads;
    "same": it is in the wanted language already, and was left as it is.
    """
    details: Details | None = None
    """Word by word, if that was asked for."""
    sentences: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """The sentences it was cut into, each with its translation."""
    direction: Direction = UNSTATED
    """From which language to which it was translated."""

    def __str__(self) -> str:
        return self.text


class Translator:
    """A vocabulary and an engine, ready to translate; several threads may use one at once."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        engine: Engine,
        search: SearchConfig | None = None,
        habits: Habits = USUAL_HABITS,
        languages: Sequence[Direction] = (UNSTATED,),
        table: LanguageTable | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.engine = engine
        self.search = search or SearchConfig()
        self.habits = habits
        self.languages = tuple(languages)
        """From which languages to which it translates."""
        self.table = table

    @overload
    def translate(
        self, text: str, options: Options = USUAL, **changes: Unpack[Changes]
    ) -> Translation: ...
    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        options: Options = USUAL,
        **changes: Unpack[Changes],
    ) -> list[Translation]: ...
    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        options: Options = USUAL,
        **changes: Unpack[Changes],
    ) -> Translation | list[Translation]:
        """Translate one text, or many at once, which is faster than one by one.

        A text may be of any length and kind. What is long is cut into sentences and put together
        again with its spacing; tags, addresses, placeholders and numbers stay as they are; terms of
        the glossary are translated as it says. `Options` has the keywords: what is given by them
        goes before what is given as options.
        """
        refuse_other_type("text", text, str, Iterable)
        texts = [text] if isinstance(text, str | bytes) else list(text)
        for each in texts:
            refuse_no_text(each)
        options = _options(options, changes)
        translations = self._translate(texts, options, options.search_config(self.search))
        return translations[0] if isinstance(text, str) else translations

    def towards(self, way: Direction) -> "Translator":
        """Return the same for one direction."""
        if self.languages == (way,):
            return self
        engine = DirectedEngine(self.engine, self.tokenizer.tags[way.to_language])
        return Translator(self.tokenizer, engine, self.search, self.habits, (way,))

    def guess(self, text: str) -> list[Guess]:
        """Tell in which of its languages a text may be, likeliest first; none if in no one.

        A model that reads one language takes all text for that.
        """
        refuse_no_text(text)
        if self.table:
            return self.table.guess(without_tags(text))
        return [Guess(code, 1.0) for code in {way.from_language for way in self.languages}]

    def with_details(self, translations: Sequence[Translation]) -> list[Translation]:
        """Read translations once more, to tell of each word how sure it is and where it is from."""
        for translation in translations:
            refuse_other_type("a translation", translation, Translation)
        return grouped(
            translations,
            by=lambda translation: translation.direction,
            each=lambda way, some: (
                self.towards(way)._with_details(some) if way in self.languages else some
            ),
        )

    def _with_details(self, translations: Sequence[Translation]) -> list[Translation]:
        pairs = [pair for translation in translations for pair in translation.sentences]
        found = iter(read_details(self.tokenizer, self.engine, pairs))
        return [
            replace(t, details=join_details([next(found) for _ in t.sentences]))
            for t in translations
        ]

    def alternatives(
        self,
        translation: Translation,
        word: int,
        options: Options = USUAL,
        *,
        count: int = 5,
        **changes: Unpack[Changes],
    ) -> list[Alternative]:
        """Find what else could stand in place of a word, and how each translation would go on.

        Words are those of the details, counted from 0. Of the options beam size, alpha and glossary
        are heeded.
        """
        refuse_other_type("translation", translation, Translation)
        refuse_other_type("word", word, int)
        refuse_other_type("count", count, int)
        options = replace(_options(options, changes), n_best=1, sampling=None)
        config = options.search_config(self.search)
        first, end = 0, 0
        for source, text in translation.sentences:
            start = translation.text.index(text, end)
            end = start + len(text)
            past = first + len(find_words(without_tags(text)))
            if first <= word < past:
                engine = self.towards(translation.direction).engine
                others = find_alternatives(
                    *(engine, self.tokenizer, source, text, word - first),
                    *(config, options.terms, count),
                )
                before, after = translation.text[:start], translation.text[end:]
                return [other._replace(text=before + other.text + after) for other in others]
            first = past
        raise ConfigError(
            f"there is no word {word} in '{translation.text}'; count from 0 to {first - 1}"
        )

    def translate_as_found(self, texts: Sequence[str], *, beam_size: int) -> list[str]:
        """Translate lines just as the model says, which is what its training is judged by."""
        config = Options(beam_size=beam_size).search_config(self.search)
        found = self.engine.search([self.tokenizer.encode(text) for text in texts], config)
        return [normalise(self.tokenizer.decode(best.pieces)) for best, *_ in found]

    def translate_lines(
        self, lines: Iterable[str | None], options: Options = USUAL, **changes: Unpack[Changes]
    ) -> Iterator[Translation]:
        """Translate a stream of lines in order, in memory that does not grow with it.

        Lines are taken in by hundreds before the first comes out. Where they are long in coming,
        None among them says so: what there is comes out before the next is asked for.
        """
        options = _options(options, changes)
        refuse_no_texts("lines", lines)
        config = options.search_config(self.search)  # what cannot be is refused at once
        find_route(self.languages, options.from_language, options.to_language)

        def translate(chunk: list[str]) -> list[Translation]:
            return self._translate(chunk, options, config)

        return chain.from_iterable(ahead(translate, _chunks(lines), at_once=_CHUNKS_AT_ONCE))

    def _translate(
        self, texts: Sequence[str], options: Options, config: SearchConfig
    ) -> list[Translation]:
        """Translate every text on its way, those that go the same way together."""
        for text in texts:
            refuse_halves(text)
        if len(self.languages) == 1:
            find_route(self.languages, options.from_language, options.to_language)
            return self._translate_one_way(texts, options, config)
        return grouped(
            texts,
            by=lambda text: find_course(
                text, self.languages, options, self.guess if self.table else None
            ),
            each=lambda course, some: self._translate_on(course, some, options, config),
        )

    def _translate_on(
        self, course: Course, texts: Sequence[str], options: Options, config: SearchConfig
    ) -> list[Translation]:
        """Translate texts that take one course: directly, through a language, or not at all."""
        flags = (course.flag,) if course.flag else ()
        if not course.route:
            return [Translation(source=it, text=it, score=0.0, flags=flags) for it in texts]
        *before, last = map(self.towards, course.route)
        between = list(texts)
        if before and options.glossary:
            raise ConfigError(
                f"from {course.route[0].from_language} to {course.route[-1].to_language} it goes "
                f"through {course.route[0].to_language}, where a glossary cannot; leave it out"
            )
        if before:
            as_usual = replace(options, n_best=1, prefix="", glossary=None)
            firsts = before[0]._translate_one_way(texts, as_usual, replace(config, n_best=1))
            between = [first.text for first in firsts]
        found = last._translate_one_way(between, options, config)
        if before:
            found = [_joined(first, second) for first, second in zip(firsts, found, strict=True)]
        return [replace(it, flags=(*it.flags, *flags)) for it in found] if flags else found

    def _translate_one_way(
        self, texts: Sequence[str], options: Options, config: SearchConfig
    ) -> list[Translation]:
        """Cut the texts into sentences, translate all of them together, and put them back."""
        longest = min(LONGEST, self.engine.most_pieces - 2)  # a piece has a byte; a space, and EOS
        cuts = [
            cut_text(text, max(longest // (3 if _is_lengthened(text) else 1), 1)) for text in texts
        ]
        sentences = [
            text[start:end]
            for text, ranges in zip(texts, cuts, strict=True)
            for start, end in ranges
        ]
        # A text begins with the prefix, so its other sentences are translated without.
        is_steered = [
            number == 0 or not options.prefix for ranges in cuts for number in range(len(ranges))
        ]
        free = replace(options, prefix="")
        first = self._candidates(compress(sentences, is_steered), options, config)
        later = self._candidates(compress(sentences, map(not_, is_steered)), free, config)
        found = (next(first if steered else later) for steered in is_steered)
        translations = [
            _assembled(text, ranges, list(islice(found, len(ranges))), self.languages[0])
            for text, ranges in zip(texts, cuts, strict=True)
        ]
        return self.with_details(translations) if options.details else translations

    def _candidates(
        self, sentences: Iterable[str], options: Options, config: SearchConfig
    ) -> Iterator[list[Candidate]]:
        if not (chosen := list(sentences)):
            return iter(())
        steering = Steering(options.prefix, options.sampling)
        engine, engine_of_parts = (
            wish.engine(self.engine, self.tokenizer)
            for wish in (steering, steering._replace(prefix=""))  # which would begin every part
        )
        translator = SentenceTranslator(self.tokenizer, engine, engine_of_parts, self.habits)
        found = translator.translate(chosen, config, options.terms)
        if steering.prefix:
            found = [list(map(steering.checked, candidates)) for candidates in found]
        return map(partial(_flagged, self.tokenizer), chosen, found)


def _flagged(tokenizer: Tokenizer, sentence: str, candidates: list[Candidate]) -> list[Candidate]:
    """Flag what could not be read, and the candidates that lack a mark that is not seen."""
    of_all = ("script",) if is_unreadable(sentence, tokenizer) else ()
    return [
        candidate._replace(flags=(*candidate.flags, *of_all, *of_this))
        for candidate in candidates
        for of_this in [("invisible",) * lacks_invisible(sentence, candidate.text)]
    ]


def _joined(first: Translation, second: Translation) -> Translation:
    """Tell of a translation and what was made of it as of one."""
    details = first.details and second.details and through(first.details, second.details)
    flags = dict.fromkeys((*first.flags, *second.flags, "through"))
    return replace(
        second,
        source=first.source,
        flags=tuple(flags),
        details=details,
        direction=Direction.of(first.direction.from_language, second.direction.to_language),
    )


def _options(options: Options, changes: Changes) -> Options:
    refuse_other_type("options", options, Options)
    return replace(options, **changes)


def _is_lengthened(text: str) -> bool:
    """Whether some letters have more bytes when they are composed: three times as many at most."""
    return not text.isascii() and len(compose(text).encode()) > len(text.encode())


def _assembled(
    text: str,
    ranges: list[tuple[int, int]],
    sentences: list[list[Candidate]],
    direction: Direction,
) -> Translation:
    """Write the candidates of the sentences between what stood between the sentences."""
    if not sentences:
        return Translation(source=text, text=text, score=0.0, direction=direction)
    is_one = ranges == [(0, len(text))]
    best, *others = sentences[0] if is_one else _best_of_all(text, ranges, sentences)
    return Translation(
        source=text,
        text=best.text,
        score=best.score,
        alternatives=tuple(others),
        flags=best.flags,
        sentences=tuple(
            (text[start:end], candidates[0].text)
            for (start, end), candidates in zip(ranges, sentences, strict=True)
        ),
        direction=direction,
    )


def _best_of_all(
    text: str, ranges: list[tuple[int, int]], sentences: list[list[Candidate]]
) -> list[Candidate]:
    """Put the best candidates of all sentences together, then the second best, and so on."""
    return [
        Candidate(
            text=_replaced(text, ranges, [candidate.text for candidate in candidates]),
            score=sum(candidate.score for candidate in candidates) / len(candidates),
            flags=tuple(dict.fromkeys(chain(*(candidate.flags for candidate in candidates)))),
        )
        for candidates in _side_by_side(sentences)
    ]


def _side_by_side(sentences: list[list[Candidate]]) -> Iterator[list[Candidate]]:
    """Give the n-th candidate of every sentence; one that has fewer stays with its last."""
    for number in range(max(map(len, sentences))):
        yield [candidates[min(number, len(candidates) - 1)] for candidates in sentences]


def _replaced(text: str, ranges: list[tuple[int, int]], sentences: list[str]) -> str:
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(ranges)]
    inner = "".join(chain(*zip_longest(sentences, gaps, fillvalue="")))
    return text[: ranges[0][0]] + inner + text[ranges[-1][1] :]


def _chunks(lines: Iterable[str | None]) -> Iterator[list[str] | None]:
    chunk: list[str] = []
    for line in chain(lines, [None]):
        if line is not None:
            refuse_no_text(line)
            chunk.append(line)
        if chunk and (line is None or len(chunk) == CHUNK):
            yield chunk
            chunk = []
        if line is None:
            yield None


def load(
    folder: str | Path | None = None, engine: str | None = None, *, fast: bool = False
) -> Translator:
    """Load a model folder, or the model that comes with heedful, and return what translates by it.

    The engine is "ctranslate2", which needs no torch, or "pytorch", which is our own model; by
    default the first, if the folder has been exported for it. "exact" is the first without rounding
    to int8, so it finds what "pytorch" finds. With `fast`, the first scores likely pieces alone,
    which is faster in bulk; but who shares a batch may show.
    """
    refuse_other_type("folder", folder, str, Path, None)
    refuse_other_type("fast", fast, bool)
    model_folder = ModelFolder(model_path(folder))
    provenance = model_folder.provenance()
    if engine == "exact" and provenance.model.is_rounded:
        raise ConfigError(
            f"{model_folder.path}: its weights were rounded when it was packed, so there is no "
            "'exact'; take another engine"
        )
    search = SearchConfig(**vars(provenance.search))
    tokenizer, config = model_folder.tokenizer(), model_folder.config()
    if tokenizer.vocab_size != config.vocab_size:
        raise ModelFolderError(
            f"{model_folder.path}: the vocabulary has {tokenizer.vocab_size} pieces and the model "
            f"{config.vocab_size}; the files come from different models"
        )
    loaded = _load_engine(model_folder, config, engine, fast)
    languages = provenance.data.directions or [UNSTATED]
    if len(languages) > 1 and (gone := {it.to_language for it in languages} - {*tokenizer.tags}):
        raise ModelFolderError(
            f"{model_folder.path}: the vocabulary has no tag for {', '.join(sorted(gone))}; the "
            "files come from different models"
        )
    known = model_folder.habits(), languages, model_folder.language_table()
    return Translator(tokenizer, loaded, search, *known)


def _load_engine(folder: ModelFolder, config: ModelConfig, name: str | None, fast: bool) -> Engine:
    if name is not None:
        refuse_other("engine", name, ("ctranslate2", "exact", "pytorch"))
    if fast and name in ("exact", "pytorch"):
        raise ConfigError(
            f"fast is for the engine 'ctranslate2', got '{name}'; leave out one of the two"
        )
    is_exported = folder.ctranslate2.is_dir()
    if (fast or name not in (None, "pytorch")) and not is_exported:
        raise ModelFolderError(
            f"{folder.path} has no ctranslate2 folder; make it with: heedful export {folder.path}"
        )
    if is_exported and name != "pytorch":
        refuse_mixed(folder, engine="ctranslate2")
        from heedful.decoding.ctranslate2_engine import CTranslate2Engine

        if fast and not folder.shortlist_file.exists():
            raise ModelFolderError(
                f"{folder.path} has no shortlist, which training leaves, and heedful export while "
                "its training folder is there; translate without fast"
            )
        return CTranslate2Engine(folder, config, exact=name == "exact", fast=fast)
    refuse_mixed(folder, engine="pytorch")
    try:
        from heedful.decoding.pytorch_engine import PyTorchEngine
    except ModuleNotFoundError as error:
        raise missing_extra("translating with PyTorch", error.name) from error
    return PyTorchEngine.load(folder)
