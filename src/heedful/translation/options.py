"""How to translate: all that can be asked, from the command line to the engine."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypedDict

from heedful.decoding.hypothesis import Sampling, SearchConfig
from heedful.errors import ConfigError, refuse_other_type
from heedful.text.glossary import Glossary


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to translate. What is left out is as the model was made, or is not done."""

    from_language: str = ""
    """The code of the language of the text; else it is told by the text, if there are several."""
    to_language: str = ""
    """The code of the language to translate to, for a model that has several."""
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
        refuse_other_type("from_language", self.from_language, str)
        refuse_other_type("to_language", self.to_language, str)
        refuse_other_type("beam_size", self.beam_size, int, None)
        refuse_other_type("alpha", self.alpha, float, None)
        refuse_other_type("n_best", self.n_best, int)
        refuse_other_type("glossary", self.glossary, Mapping, Glossary, None)
        refuse_other_type("prefix", self.prefix, str)
        refuse_other_type("sampling", self.sampling, Sampling, None)
        refuse_other_type("details", self.details, bool)
        asked = {"beam_size": self.beam_size or 1, "n_best": self.n_best}
        several = [f"{name} = {number}" for name, number in asked.items() if number > 1]
        if self.sampling and several:
            raise ConfigError(
                "sampling (by temperature, top_k, top_p or seed) draws one translation, and takes "
                f"no {' and no '.join(several)}; for another one, draw again with another seed"
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

    from_language: str
    to_language: str
    beam_size: int | None
    alpha: float | None
    n_best: int
    glossary: Mapping[str, str] | Glossary | None
    prefix: str
    sampling: Sampling | None
    details: bool
