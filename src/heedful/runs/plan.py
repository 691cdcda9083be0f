"""How to spend the minutes that a run is given: on which size, in which batches and steps."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from heedful.data.batches import training_batches
from heedful.data.prepare import PreparedCorpus
from heedful.errors import TooShortError
from heedful.model.config import SIZE_NAMES
from heedful.model.transformer import Transformer
from heedful.runs.budget import Stopwatch
from heedful.runs.events import Plan
from heedful.runs.recipe import Recipe
from heedful.runs.validate import BEAM_COST, BLEU_SENTENCES
from heedful.training.schedule import peak_rate
from heedful.training.trainer import Trainer

# What depends on tuning is here and nowhere else; docs/decisions/0007 gives the reasons.
_LADDER = ("mini", "tiny", "small", "base", "big")
_PARAMETERS_PER_PIECE = 8.0  # of the corpus, at most: with more, it is learned by heart
_PIECES_PER_PARAMETER = 2.0  # to learn from, at least: with fewer, a smaller size gets further
_STEPS_WANTED = 2_000  # before batches are as large as the recipe has them
_SMALLEST_BATCH = 512  # tokens
_FEWEST_STEPS = 100  # with which to begin at all
_WARMUP_SHARE, _FEWEST_WARMUP_STEPS = 0.06, 50
_FEWEST_VALIDATIONS, _MOST_VALIDATIONS = 4, 20
_VALIDATION_SHARE = 0.04  # of the time
_AVERAGED_SHARE = 0.2  # of the validations, the last ones
_SEARCH_COST = 1.5  # to find a piece by greedy search, over the cost to learn from one
_FORWARD_COST = 0.4  # to validate on a piece, over the same
_READING_RATE = 60_000.0  # bytes a second that a small model learns from on two cores

_MEASURING_SHARE = 0.02  # of the time, for each size
_MEASURING_SECONDS = 3.0  # at most
_MEASURED_TOKENS = 4_096  # of a batch, at most: larger ones are no faster, and take long

_SIZES = {("model", name) for name in SIZE_NAMES}
_SCHEDULE = {
    ("training", name)
    for name in (
        "schedule", "batch_tokens", "peak_rate", "warmup_steps", "validate_every", "average_last",
        "patience",
    )
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TextCounts:
    """How much text there is; but for the pairs, in target pieces with their ends."""

    pairs: int
    """To train on."""
    train: int
    valid: int
    searched: int
    """Of the validation sentences that BLEU is measured on."""


@dataclass(frozen=True, kw_only=True)
class Size:
    """A size of the network, and how it learns on this machine."""

    recipe: Recipe
    preset: str
    """Its name; empty where the recipe states sizes of its own."""
    num_parameters: int
    pieces_per_second: float
    pieces_per_step: float


def open_choices(recipe: Recipe) -> set[tuple[str, str]]:
    """Return section and name of what a plan may choose, since the recipe says nothing of it."""
    if not recipe.training.minutes:
        return set()
    return (set() if _SIZES & recipe.stated else _SIZES) | (_SCHEDULE - recipe.stated)


def readable_bytes(recipe: Recipe) -> float:
    """Guess how much text there is time for; a vocabulary for more would not be learned."""
    return 60 * recipe.training.own_minutes * _READING_RATE or math.inf


def make_plan(
    recipe: Recipe,
    corpus: PreparedCorpus,
    stopwatch: Stopwatch,
    device: torch.device,
) -> Plan:
    """Measure this machine, and choose what the recipe leaves open for its minutes."""
    lengths, valid_lengths = (pairs.lengths[:, 1] + 1 for pairs in (corpus.train, corpus.valid))
    counts = TextCounts(
        pairs=len(lengths),
        train=int(lengths.sum()),
        valid=int(valid_lengths.sum()),
        searched=int(valid_lengths[:BLEU_SENTENCES].sum()),
    )
    sizes = _measured_sizes(recipe, corpus, counts, stopwatch, device)
    return choose(recipe, sizes, counts, stopwatch)


def choose(recipe: Recipe, sizes: Iterable[Size], counts: TextCounts, stopwatch: Stopwatch) -> Plan:
    """Choose the largest worthwhile of sizes that grow, and how to train it."""
    promised = 60 * recipe.training.own_minutes
    size = _largest_worthwhile(sizes, promised - stopwatch.seconds)
    preparing, finishing = stopwatch.seconds, _finishing_seconds(size, counts)
    seconds = promised - preparing - finishing
    size = _with_batches(size, seconds)
    steps = math.floor(seconds * size.pieces_per_second / size.pieces_per_step)
    if steps < _FEWEST_STEPS:
        raise _too_short(size, preparing, finishing)
    num_validations = _num_validations(size, counts, seconds)
    return Plan(
        recipe=_with_schedule(size.recipe, recipe, steps, num_validations),
        preset=size.preset,
        steps=steps,
        passes=seconds * size.pieces_per_second / counts.train,
        num_pairs=counts.pairs,
    )


def _measured_sizes(
    recipe: Recipe,
    corpus: PreparedCorpus,
    counts: TextCounts,
    stopwatch: Stopwatch,
    device: torch.device,
) -> Iterator[Size]:
    """Measure size after size, as far as the caller asks and the corpus has text for."""
    limit = _PARAMETERS_PER_PIECE * counts.train
    for number, (preset, sized) in enumerate(_candidates(recipe).items()):
        with torch.device("meta"):
            model = Transformer(sized.model_config(corpus.tokenizer.vocab_size))
        if number == 0 or model.num_parameters <= limit:
            per_second, per_step = _pieces_learned(sized, corpus, stopwatch, device)
            yield Size(
                recipe=sized,
                preset=preset,
                num_parameters=model.num_parameters,
                pieces_per_second=per_second,
                pieces_per_step=per_step,
            )


def _candidates(recipe: Recipe) -> dict[str, Recipe]:
    """Return the recipe with every preset of the ladder, or as it is when it states sizes."""
    if not _SIZES & open_choices(recipe):
        return {"": recipe}
    others = {name: value for name, value in recipe.model.items() if ("model", name) not in _SIZES}
    return {name: replace(recipe, model={**others, "preset": name}) for name in _LADDER}


def _pieces_learned(
    recipe: Recipe, corpus: PreparedCorpus, stopwatch: Stopwatch, device: torch.device
) -> tuple[float, float]:
    """Train for some seconds and forget it; return the pieces per second and per step."""
    config = recipe.training
    measured_tokens = min(config.batch_tokens, _MEASURED_TOKENS)
    model = Transformer(recipe.model_config(corpus.tokenizer.vocab_size)).to(device)
    batches = training_batches(
        corpus.train,
        batch_tokens=measured_tokens,
        seed=config.seed,
    )
    steps = Trainer(model, config).steps(batches)
    next(steps)  # takes longer, since memory is taken
    seconds = min(_MEASURING_SHARE * 60 * config.own_minutes, _MEASURING_SECONDS)
    began, made = stopwatch.seconds, [next(steps)]
    while (spent := stopwatch.seconds - began) < seconds:
        made.append(next(steps))
    num_pieces = sum(step.num_pieces for step in made)
    per_step = num_pieces / len(made) * config.batch_tokens / measured_tokens
    return num_pieces / spent, per_step


def _largest_worthwhile(sizes: Iterable[Size], seconds: float) -> Size:
    """Climb as long as there is time to make use of the next size."""
    ladder = iter(sizes)
    best = next(ladder)
    for size in ladder:
        if size.pieces_per_second * seconds < _PIECES_PER_PARAMETER * size.num_parameters:
            break
        best = size
    return best


def _finishing_seconds(size: Size, counts: TextCounts) -> float:
    hypotheses = BEAM_COST * size.recipe.search.beam_size
    return hypotheses * _SEARCH_COST * counts.valid / size.pieces_per_second


def _num_validations(size: Size, counts: TextCounts, seconds: float) -> int:
    """As many as cost a small share of the time, within limits."""
    cost = _SEARCH_COST * counts.searched + _FORWARD_COST * counts.valid
    affordable = _VALIDATION_SHARE * seconds * size.pieces_per_second / cost
    return min(max(math.floor(affordable), _FEWEST_VALIDATIONS), _MOST_VALIDATIONS)


def _with_batches(size: Size, seconds: float) -> Size:
    """Halve the batches as long as there is time for few steps only."""
    before = size.recipe.training.batch_tokens
    tokens, steps = before, seconds * size.pieces_per_second / size.pieces_per_step
    while steps < _STEPS_WANTED and tokens >= 2 * _SMALLEST_BATCH:
        tokens, steps = tokens // 2, steps * 2
    recipe = _filled(size.recipe, batch_tokens=tokens)
    share = recipe.training.batch_tokens / before
    return replace(size, recipe=recipe, pieces_per_step=size.pieces_per_step * share)


def _with_schedule(recipe: Recipe, asked: Recipe, steps: int, num_validations: int) -> Recipe:
    return _filled(
        recipe,
        schedule="linear",
        peak_rate=_peak_rate(recipe, asked),
        warmup_steps=max(math.ceil(_WARMUP_SHARE * steps), _FEWEST_WARMUP_STEPS),
        validate_every=math.ceil(steps / num_validations),
        average_last=max(round(_AVERAGED_SHARE * num_validations), 1),
        patience=0,
    )


def _peak_rate(recipe: Recipe, asked: Recipe) -> float:
    """Let the rate of the recipe grow with the root of the batch, and fall with the width."""
    before, d_model = asked.training, asked.model_config(vocab_size=1).d_model
    peak = peak_rate(before.peak_rate, d_model=d_model, warmup_steps=before.warmup_steps)
    batch = recipe.training.batch_tokens / before.batch_tokens
    width = recipe.model_config(vocab_size=1).d_model / d_model
    return float(f"{peak * math.sqrt(batch) / width:.2g}")


def _filled(recipe: Recipe, **choices: Any) -> Recipe:
    """Make those choices of training that the recipe leaves open."""
    free = open_choices(recipe)
    made = {name: value for name, value in choices.items() if ("training", name) in free}
    return replace(recipe, training=replace(recipe.training, **made))


def _too_short(size: Size, preparing: float, finishing: float) -> TooShortError:
    config = size.recipe.training
    training = _FEWEST_STEPS * size.pieces_per_step / size.pieces_per_second
    own_minutes = 1.1 * (preparing + training + finishing) / 60
    return TooShortError(
        config.minutes,
        needed=own_minutes * config.minutes / config.own_minutes,
        why=f"preparing took {preparing:.0f} seconds and scoring will take about {finishing:.0f}",
    )
