"""The translator: text in, Translation out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise, zip_longest
from pathlib import Path
from typing import overload

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.sentence import Candidate, Engine, SentenceTranslator
from heedful.errors import MissingExtraError, ModelFolderError, refuse_other
from heedful.folder import ModelFolder
from heedful.text.glossary import Glossary
from heedful.text.normalise import normalise
from heedful.text.sentences import cut_text
from heedful.text.tokenizer import Tokenizer

_CHUNK = 1_024  # lines translated together, so that lengths can be matched


@dataclass(frozen=True, kw_only=True)
class Translation:
    """What became of one text. `str()` of it is the translated text."""

    source: str
    text: str
    score: float
    """Log-probability over the length penalty: higher is better, 0 is certain."""
    alternatives: tuple[Candidate, ...] = ()
    """The other candidates of the beam, best first."""
    flags: tuple[str, ...] = ()
    """What a reader should look at.

    "repetition" and "length": the search ended in a loop, or far too late, and was tried again;
    "parts": what stands between protected spans was translated on its own;
    "untranslated": not even that kept the spans, so the sentence was left as it is.
    """

    def __str__(self) -> str:
        return self.text


class Translator:
    """A vocabulary and an engine, ready to translate."""

    def __init__(
        self, tokenizer: Tokenizer, engine: Engine, search: SearchConfig | None = None
    ) -> None:
        self.tokenizer = tokenizer
        self.engine = engine
        self.search = search or SearchConfig()
        self._sentences = SentenceTranslator(tokenizer, engine)

    @overload
    def translate(
        self,
        text: str,
        *,
        beam_size: int | None = ...,
        alpha: float | None = ...,
        glossary: Mapping[str, str] | Glossary | None = ...,
    ) -> Translation: ...
    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        *,
        beam_size: int | None = ...,
        alpha: float | None = ...,
        glossary: Mapping[str, str] | Glossary | None = ...,
    ) -> list[Translation]: ...
    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        *,
        beam_size: int | None = None,
        alpha: float | None = None,
        glossary: Mapping[str, str] | Glossary | None = None,
    ) -> Translation | list[Translation]:
        """Translate one text, or many at once, which is faster than one by one.

        A text may be of any length and kind. What is long is cut into sentences and put together
        again with its spacing; tags, addresses, placeholders and numbers stay as they are; terms of
        the glossary are translated as it says.
        """
        texts = [text] if isinstance(text, str) else list(text)
        config = self._config(beam_size, alpha)
        translations = self._translate(texts, config, _as_glossary(glossary))
        return translations[0] if isinstance(text, str) else translations

    def translate_as_found(self, texts: Sequence[str], *, beam_size: int) -> list[str]:
        """Translate lines just as the model says, which is what its training is judged by."""
        config = self._config(beam_size, None)
        found = self.engine.search([self.tokenizer.encode(text) for text in texts], config)
        return [normalise(self.tokenizer.decode(best.pieces)) for best, *_ in found]

    def translate_lines(
        self,
        lines: Iterable[str],
        *,
        beam_size: int | None = None,
        alpha: float | None = None,
        glossary: Mapping[str, str] | Glossary | None = None,
    ) -> Iterator[Translation]:
        """Translate a stream of lines in order, in memory that does not grow with it."""
        config, terms, lines = self._config(beam_size, alpha), _as_glossary(glossary), iter(lines)
        while chunk := list(islice(lines, _CHUNK)):
            yield from self._translate(chunk, config, terms)

    def _config(self, beam_size: int | None, alpha: float | None) -> SearchConfig:
        return SearchConfig(
            beam_size=self.search.beam_size if beam_size is None else beam_size,
            alpha=self.search.alpha if alpha is None else alpha,
        )

    def _translate(
        self, texts: Sequence[str], config: SearchConfig, glossary: Glossary
    ) -> list[Translation]:
        """Cut the texts into sentences, translate all of them together, and put them back."""
        cuts = [cut_text(text) for text in texts]
        sentences = [
            text[start:end]
            for text, ranges in zip(texts, cuts, strict=True)
            for start, end in ranges
        ]
        found = iter(self._sentences.translate(sentences, config, glossary))
        return [
            _assembled(text, ranges, [next(found) for _ in ranges])
            for text, ranges in zip(texts, cuts, strict=True)
        ]


def _assembled(
    text: str, ranges: list[tuple[int, int]], sentences: list[list[Candidate]]
) -> Translation:
    """Write the candidates of the sentences between what stood between the sentences."""
    if not sentences:
        return Translation(source=text, text=text, score=0.0)
    best, *others = [
        Candidate(
            text=_replaced(text, ranges, [candidate.text for candidate in candidates]),
            score=sum(candidate.score for candidate in candidates) / len(candidates),
            flags=tuple(dict.fromkeys(chain(*(candidate.flags for candidate in candidates)))),
        )
        for candidates in zip(*sentences, strict=False)
    ]
    return Translation(
        source=text,
        text=best.text,
        score=best.score,
        alternatives=tuple(others),
        flags=best.flags,
    )


def _as_glossary(terms: Mapping[str, str] | Glossary | None) -> Glossary:
    return terms if isinstance(terms, Glossary) else Glossary(terms or {})


def _replaced(text: str, ranges: list[tuple[int, int]], sentences: list[str]) -> str:
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(ranges)]
    inner = "".join(chain(*zip_longest(sentences, gaps, fillvalue="")))
    return text[: ranges[0][0]] + inner + text[ranges[-1][1] :]


def load(folder: str | Path, engine: str | None = None) -> Translator:
    """Load a model folder and return what translates with it.

    The engine is "ctranslate2", which is fast and needs no torch, or "pytorch", which is our own
    model; by default the first, if the folder has been exported for it.
    """
    model_folder = ModelFolder(Path(folder))
    search = SearchConfig(**model_folder.provenance()["search"])
    tokenizer, config = model_folder.tokenizer(), model_folder.config()
    if tokenizer.vocab_size != config.vocab_size:
        raise ModelFolderError(
            f"{model_folder.path}: the vocabulary has {tokenizer.vocab_size} pieces and the model "
            f"{config.vocab_size}; the files come from different models"
        )
    return Translator(tokenizer, _load_engine(model_folder, engine), search)


def _load_engine(folder: ModelFolder, name: str | None) -> Engine:
    if name is not None:
        refuse_other("engine", name, ("ctranslate2", "pytorch"))
    is_exported = folder.ctranslate2.is_dir()
    if name == "ctranslate2" and not is_exported:
        raise ModelFolderError(
            f"{folder.path} has no ctranslate2 folder; make it with: heedful export {folder.path}"
        )
    if is_exported and name != "pytorch":
        from heedful.decoding.ctranslate2_engine import CTranslate2Engine

        return CTranslate2Engine(folder)
    try:
        from heedful.decoding.pytorch_engine import PyTorchEngine
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"translating with PyTorch needs {error.name}; "
            "install it with: pip install 'heedful[train]'"
        ) from error
    return PyTorchEngine.load(folder)
