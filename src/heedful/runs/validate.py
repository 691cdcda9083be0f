"""How a model does on pairs it is not trained on, while it is trained."""

from collections.abc import Sequence
from dataclasses import dataclass

from heedful.data.batches import ordered_batches
from heedful.data.corpus import Pair
from heedful.data.prepare import PreparedCorpus
from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.evaluation import Score, bleu
from heedful.model.transformer import Transformer
from heedful.runs.recipe import Recipe
from heedful.storage.provenance import Example
from heedful.text.normalise import normalise
from heedful.training.loss import validation_loss

BLEU_SENTENCES = 200  # enough to see where it goes, few enough not to hold training up
BEAM_COST = 0.5  # of CTranslate2 for a hypothesis in the beam, over our greedy search: 0.42
_EXAMPLE_CHARACTERS = 40  # of an example: more than a phrase, and read at a glance
_MOST_EXAMPLES = 3
NUM_WATCHED = 2  # of them, at every validation


@dataclass(frozen=True, kw_only=True)
class Found:
    """What greedy search makes of the first validation sentences."""

    bleu: Score
    num_distinct: int
    num_distinct_references: int
    length_ratio: float
    examples: list[Example]


class Validator:
    """A model in training, and the pairs it is judged by."""

    def __init__(self, model: Transformer, corpus: PreparedCorpus, recipe: Recipe) -> None:
        self.model, self.recipe = model, recipe
        self.ids, self.pairs = corpus.valid, corpus.valid_pairs()
        self.tokenizer, self.engine = corpus.tokenizer, PyTorchEngine(model)

    def loss(self) -> float:
        """Return the cross-entropy per target piece of all pairs."""
        tokens = self.recipe.training.batch_tokens
        return validation_loss(self.model, ordered_batches(self.ids, batch_tokens=tokens))

    def search(self) -> Found:
        """Translate the first pairs and compare."""
        references = [target for _, target in self.pairs[:BLEU_SENTENCES]]
        sources = [self.ids[row][0] for row in range(len(references))]
        found = self.engine.search(sources, SearchConfig(beam_size=1))
        translations = [normalise(self.tokenizer.decode(best.pieces)) for best, *_ in found]
        return Found(
            bleu=bleu(translations, references),
            num_distinct=len(set(translations)),
            num_distinct_references=len(set(references)),
            length_ratio=sum(map(len, translations)) / sum(map(len, references)),
            examples=examples_of(self.pairs, translations)[:NUM_WATCHED],
        )

    def ending_seconds(self, *, validating: float, searching: float, length_ratio: float) -> float:
        """Tell from a validation what the end takes: one more, means, and all pairs by beam.

        A model that does not know yet when to end searches for longer than it will.
        """
        averaging = self.recipe.training.average_last * (validating - searching)
        shown = min(BLEU_SENTENCES, len(self.pairs))
        hypotheses = BEAM_COST * self.recipe.search.beam_size * len(self.pairs) / shown
        return validating + averaging + hypotheses * searching / max(length_ratio, 1.0)


def examples_of(pairs: Sequence[Pair], translations: Sequence[str]) -> list[Example]:
    """Choose some of the pairs that BLEU is measured on, always the same ones of the same pairs."""
    shown = {pair: row for row, pair in reversed(list(enumerate(pairs[:BLEU_SENTENCES])))}

    def oddness(pair: Pair) -> tuple[bool, int, int]:
        source, reference = pair
        return source == reference, abs(len(reference) - _EXAMPLE_CHARACTERS), shown[pair]

    return [
        Example(source=pair[0], translation=translations[shown[pair]], reference=pair[1])
        for pair in sorted(shown, key=oddness)[:_MOST_EXAMPLES]
    ]
