"""What all interfaces share: models, the queue, limits, keys; and how a text goes through them."""

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heedful.decoding.hypothesis import Sampling
from heedful.errors import ConfigError, CorpusError, HeedfulError
from heedful.server.dispatcher import BusyError, Dispatcher
from heedful.server.keys import Key, Keyring, Usage
from heedful.server.limits import Limits
from heedful.server.metrics import Metrics
from heedful.server.models import Models, Way
from heedful.server.refusal import RefusedError, too_much
from heedful.server.sentences import assembled, cut
from heedful.storage.languages import Direction
from heedful.text.glossary import Glossary
from heedful.translation.options import Options
from heedful.translation.translator import Translation


@dataclass(frozen=True)
class Wish:
    """How a text is to be translated; equal wishes are translated together."""

    way: Way = field(compare=False)
    model: str = field(init=False)
    direction: Direction = field(init=False)
    beam_size: int | None = None
    alpha: float | None = None
    n_best: int = 1
    prefix: str = ""
    glossary: tuple[tuple[str, str], ...] = ()
    sampling: Sampling | None = None
    details: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", self.way.model.name)
        object.__setattr__(self, "direction", self.way.direction)

    @property
    def is_repeatable(self) -> bool:
        """Whether the same text is translated the same again."""
        return self.sampling is None or self.sampling.seed is not None

    @property
    def options(self) -> Options:
        """The options of the translator."""
        return self.way.model.options(
            self.way.direction,
            beam_size=self.beam_size,
            alpha=self.alpha,
            n_best=self.n_best,
            prefix=self.prefix,
            glossary=Glossary(dict(self.glossary)) if self.glossary else None,
            sampling=self.sampling,
            details=self.details,
        )

    def refuse_what_cannot_be(self) -> None:
        """Find out before the work whether the options go together."""
        try:
            self.options.search_config(self.way.model.translator.search)
        except (ConfigError, CorpusError) as error:
            raise RefusedError(400, f"Invalid request: {error}") from error

    def translate(self, texts: Sequence[str]) -> list[Translation]:
        """Translate some texts at once."""
        return self.way.model.translator.translate(list(texts), self.options)


@dataclass(eq=False)
class Alone:
    """Something that is no translation of a text, and takes its turn like one."""

    work: Any
    is_repeatable: bool = False

    def translate(self, texts: Sequence[str]) -> list[Any]:
        """Do it."""
        return [self.work(text) for text in texts]


@dataclass
class Service:
    """A server without its interfaces."""

    models: Models
    dispatcher: Dispatcher
    limits: Limits = field(default_factory=Limits)
    metrics: Metrics = field(default_factory=Metrics)
    keyring: Keyring | None = None
    usage: Usage = field(default_factory=Usage)
    at_work: int = 0
    """Requests that are not answered yet."""

    async def translate(
        self, wish: Wish, texts: Sequence[str], client: Hashable, *, is_patient: bool = False
    ) -> list[Translation]:
        """Translate texts, each sentence of them in its turn."""
        self.metrics.characters.labels(wish.model).inc(sum(map(len, texts)))
        if wish.sampling:  # which a text is drawn by whole, so that its seed tells all of it
            return await self._wait(wish, texts, client, is_patient)
        cuts = [cut(text) for text in texts]
        parts = [
            [text[start:end] for start, end in ranges]
            for text, ranges in zip(texts, cuts, strict=True)
        ]
        if wish.prefix:
            found = await asyncio.gather(*(self._steered(wish, each, client) for each in parts))
        else:
            flat = [sentence for sentences in parts for sentence in sentences]
            one_by_one = iter(await self._wait(wish, flat, client, is_patient))
            found = [[next(one_by_one) for _ in sentences] for sentences in parts]
        return [
            assembled(text, ranges, translations)
            if translations
            else Translation(source=text, text=text, score=0.0)
            for text, ranges, translations in zip(texts, cuts, found, strict=True)
        ]

    async def do(self, work: Any, text: str, client: Hashable) -> Any:
        """Do something else for a text, when it is its turn."""
        (done,) = await self._wait(Alone(work), [text], client, False)
        return done

    def guess(self, texts: Sequence[str]) -> list[tuple[str, float]]:
        """Tell which language texts are in together; nothing where there are no words."""
        joined = "\n".join(texts)[:4_000]
        return self.models.guess(joined) if any(map(str.isalpha, joined)) else []

    def characters_left(self, key: Key | None) -> int | None:
        """Return how many characters a key has left today, if that is limited."""
        if not key or key.characters_per_day is None:
            return None
        return key.characters_per_day - self.usage.characters_today(key)

    async def _steered(
        self, wish: Wish, sentences: list[str], client: Hashable
    ) -> list[Translation]:
        """Begin the first sentence as is wanted, and the others as they like."""
        free = replace(wish, prefix="")
        first = self._wait(wish, sentences[:1], client, False)
        others = self._wait(free, sentences[1:], client, False)
        begun, rest = await asyncio.gather(first, others)
        return [*begun, *rest]

    async def _wait(
        self, manner: Any, texts: Sequence[str], client: Hashable, is_patient: bool
    ) -> list[Any]:
        try:
            return await self.dispatcher.translate(manner, texts, client, is_patient=is_patient)
        except BusyError as error:
            raise too_much("Too many requests: come again later", error.seconds) from error
        except HeedfulError as error:
            raise RefusedError(400, f"Invalid request: {error}") from error
