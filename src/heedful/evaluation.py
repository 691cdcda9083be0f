"""Scores that cannot be printed without saying how they were computed: sacrebleu's."""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from heedful.errors import ConfigError, CorpusError, MissingExtraError, near_miss, refuse_other_type
from heedful.text.normalise import normalise, refuse_no_text, refuse_no_texts

_DOWNLOADED = ("spm", "flores", "spBLEU")  # tokenizers that are not there without a network


@dataclass(frozen=True)
class Score:
    """A number and the signature without which it means nothing."""

    name: str
    value: float
    signature: str

    def __str__(self) -> str:
        return f"{self.name} {self.value:.2f} ({self.signature})"


def evaluate(
    hypotheses: Sequence[str], references: Sequence[str], *, tokenize: str = "13a"
) -> list[Score]:
    """Score translations against one reference each: BLEU, chrF, TER and exact match."""
    for name, texts in ("hypotheses", hypotheses), ("references", references):
        refuse_no_texts(name, texts)
        for text in texts:
            refuse_no_text(text)
    if len(hypotheses) != len(references) or not references:
        raise CorpusError(
            f"cannot score {len(hypotheses)} translations against {len(references)} references"
        )
    metrics = (bleu_metric(tokenize), CHRF(), TER())
    scores = [_score(metric, hypotheses, references) for metric in metrics]
    return [*scores, exact_match(hypotheses, references)]


def bleu_metric(tokenize: str) -> BLEU:
    """Return sacrebleu's BLEU by one of its tokenizers, refusing what is not there."""
    known = [name for name in BLEU.TOKENIZERS if not name.startswith(_DOWNLOADED)]
    refuse_other_type("tokenize", tokenize, str)
    if tokenize not in known:
        raise ConfigError(f"unknown BLEU tokenizer '{tokenize}'; {near_miss(tokenize, known)}")
    try:
        return BLEU(tokenize=tokenize, force=True)  # no advice about tokenised text
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(
            f"BLEU tokenizer '{tokenize}' is not installed: {' '.join(str(error).split())}"
        ) from error


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Score by BLEU alone, as training does on its way, with the short signature."""
    return _score(bleu_metric("13a"), hypotheses, references, short=True)


def exact_match(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Return the percentage of translations equal to their reference."""
    pairs = zip(hypotheses, references, strict=True)
    equal = sum(normalise(ours) == normalise(theirs) for ours, theirs in pairs)
    return Score("exact match", 100 * equal / len(references), f"n:{len(references)}|norm:nfc+ws")


def _score(
    metric: Metric,
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    short: bool = False,
) -> Score:
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Score(result.name, result.score, metric.get_signature().format(short=short))
