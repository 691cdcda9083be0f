"""The translator: text in, Translation out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Protocol, overload, runtime_checkable

from heedful.decoding.ahead import ahead
from heedful.decoding.hypothesis import Hypothesis, SearchConfig, SearchDefaults
from heedful.errors import MissingExtraError, ModelFolderError, refuse_other
from heedful.folder import ModelFolder
from heedful.text.normalise import normalise
from heedful.text.tokenizer import Tokenizer

CHUNK = 512  # lines translated together, so that lengths can be matched
_CHUNKS_AT_ONCE = 3  # one is cut into pieces or put together while the engine has two


@runtime_checkable
class Engine(Protocol):
    """Whatever turns source ids into hypotheses."""

    def search(self, sources: Sequence[list[int]], config: SearchConfig) -> list[list[Hypothesis]]:
        """Find the best hypotheses of every source, best first."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One way to translate."""

    text: str
    score: float
    """Log-probability over the length penalty: higher is better, 0 is certain."""


@dataclass(frozen=True, kw_only=True)
class Translation:
    """What became of one text. `str()` of it is the translated text."""

    source: str
    text: str
    score: float
    """Log-probability over the length penalty: higher is better, 0 is certain."""
    alternatives: tuple[Candidate, ...] = ()
    """The other candidates of the beam, best first."""

    def __str__(self) -> str:
        return self.text


class Translator:
    """A vocabulary and an engine, ready to translate."""

    def __init__(
        self, tokenizer: Tokenizer, engine: Engine, search: SearchDefaults | None = None
    ) -> None:
        self.tokenizer = tokenizer
        self.engine = engine
        self.search = search or SearchDefaults()

    @overload
    def translate(
        self, text: str, *, beam_size: int | None = ..., alpha: float | None = ...
    ) -> Translation: ...
    @overload
    def translate(
        self,
        text: list[str] | tuple[str, ...],
        *,
        beam_size: int | None = ...,
        alpha: float | None = ...,
    ) -> list[Translation]: ...
    def translate(
        self,
        text: str | list[str] | tuple[str, ...],
        *,
        beam_size: int | None = None,
        alpha: float | None = None,
    ) -> Translation | list[Translation]:
        """Translate one text, or many at once, which is faster than one by one."""
        config = self._config(beam_size, alpha)
        if isinstance(text, str):
            return self._translate([text], config)[0]
        return self._translate(list(text), config)

    def translate_lines(
        self, lines: Iterable[str], *, beam_size: int | None = None, alpha: float | None = None
    ) -> Iterator[Translation]:
        """Translate a stream of lines in order, in memory that does not grow with it."""
        config = self._config(beam_size, alpha)
        translated = ahead(
            lambda chunk: self._translate(chunk, config), _chunks(lines), at_once=_CHUNKS_AT_ONCE
        )
        yield from chain.from_iterable(translated)

    def _config(self, beam_size: int | None, alpha: float | None) -> SearchConfig:
        return SearchConfig(
            beam_size=self.search.beam_size if beam_size is None else beam_size,
            alpha=self.search.alpha if alpha is None else alpha,
        )

    def _translate(self, texts: Sequence[str], config: SearchConfig) -> list[Translation]:
        translations = [Translation(source=text, text=text, score=0.0) for text in texts]
        written = [index for index, text in enumerate(texts) if normalise(text)]
        sources = [self.tokenizer.encode(texts[index]) for index in written]
        found = self.engine.search(sources, config)
        for index, hypotheses in zip(written, found, strict=True):
            best, *others = [
                # A byte piece may spell a line feed; one line in must stay one line out.
                Candidate(
                    text=normalise(self.tokenizer.decode(h.pieces)), score=h.score(config.alpha)
                )
                for h in hypotheses
            ]
            translations[index] = Translation(
                source=texts[index], text=best.text, score=best.score, alternatives=tuple(others)
            )
        return translations


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    lines = iter(lines)
    while chunk := list(islice(lines, CHUNK)):
        yield chunk


def load(folder: str | Path, engine: str | None = None) -> Translator:
    """Load a model folder and return what translates with it.

    The engine is "ctranslate2", which is fast and needs no torch, or "pytorch", which is our own
    model; by default the first, if the folder has been exported for it.
    """
    model_folder = ModelFolder(Path(folder))
    search = SearchDefaults(**model_folder.provenance()["search"])
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
