"""How to translate: all that can be asked, from the command line to the engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

from heedful.decoding.hypothesis import Sampling, SearchConfig
from heedful.errors import ConfigError
from heedful.text.glossary import Glossary


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to translate. What is left out is as the model was made, or is not done."""

    beam_size: int | None = None
    """Hypotheses kept at every step; 1 is greedy search, which is faster."""
    alpha: float | None = None
    """α of the length penalty: how much it favours longer output."""
    n_best: int = 1
    """Translations to return: the best, and so many less one as its alternatives."""
    glossary: Mapping[str, str] | Glossary | None = None
    """Terms and their translations."""
    prefix: str = ""
    """What the translation is to begin with (prefix-constrained decoding)."""
    sampling: Sampling | None = None
    """Draw the translation by chance."""
    details: bool = False
    """Tell word by word how sure it is and what it translates."""

    def __post_init__(self) -> None:
        for name, number in ("the beam", self.beam_size or 1), ("n_best", self.n_best):
            if self.sampling and number > 1:
                raise ConfigError(
                    f"sampling draws one translation, so {name} must be 1, got {number}; "
                    "leave out one of the two"
                )

    @cached_property
    def terms(self) -> Glossary:
        """The glossary, ready to find terms by."""
        if isinstance(self.glossary, Glossary):
            return self.glossary
        return Glossary(self.glossary or {})

    def search_config(self, usual: SearchConfig) -> SearchConfig:
        """Return how to search: as is asked for, and else as is usual for the model."""
        usual_beam = 1 if self.sampling else usual.beam_size
        return SearchConfig(
            beam_size=usual_beam if self.beam_size is None else self.beam_size,
            alpha=usual.alpha if self.alpha is None else self.alpha,
            n_best=self.n_best,
        )


USUAL = Options()


class Changes(TypedDict, total=False):
    """The same by keyword, as `Translator.translate` takes them."""

    beam_size: int | None
    alpha: float | None
    n_best: int
    glossary: Mapping[str, str] | Glossary | None
    prefix: str
    sampling: Sampling | None
    details: bool
