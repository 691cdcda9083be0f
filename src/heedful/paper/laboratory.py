"""One network trained for one cell of a table, by the trainer, batches and search of the house."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from heedful.data.batches import ordered_batches, training_batches
from heedful.data.pair_ids import PairIds
from heedful.data.prepare import PreparedCorpus
from heedful.decoding.hypothesis import Hypothesis, SearchConfig, length_limit
from heedful.decoding.search import StepFunction, beam_search, greedy_search
from heedful.errors import TooShortError
from heedful.evaluation import bleu
from heedful.machine.cores import num_cores, side_by_side
from heedful.model.batch import pad
from heedful.model.sequence_to_sequence import SequenceToSequence
from heedful.runs.budget import Stopwatch, part_over
from heedful.specials import EOS
from heedful.training.config import TrainingConfig
from heedful.training.loss import batch_loss, validation_loss
from heedful.training.step import perplexity
from heedful.training.trainer import Trainer

PAPER_SEARCH = SearchConfig(beam_size=4, alpha=0.6)  # section 6.1
SCORED = 500  # validation pairs that are translated
TRAINING_SHARE = 0.8  # of the minutes of a cell; the rest validates and translates
LEAST_MINUTES = 0.1  # for a cell: less is hardly a step on a slow machine
_BATCH_TOKENS = 4_096  # searched at once, beams included


Around = Callable[[list[int], StepFunction, Any, list[int]], tuple[StepFunction, Any]]
"""Rows of a batch, step, state and limits in; a step and a state that take their place out."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a cell came to."""

    perplexity: float
    bleu: float
    steps: int
    seconds: float
    pieces_per_second: float
    flops: float
    """Of training, counted on one batch and taken times the pieces read."""
    parameters: int
    translations: list[str]


def refuse_too_short(minutes: float, cells: int) -> None:
    """Refuse minutes that leave too few of them to each cell."""
    if minutes / cells < LEAST_MINUTES:
        raise TooShortError(
            minutes, needed=cells * LEAST_MINUTES, why=f"it is shared by {cells} trainings"
        )


def training_of(minutes: float, **changes: Any) -> TrainingConfig:
    """Return how a cell trains: Adam, and a rate that falls to zero when the time is over."""
    settings: dict[str, Any] = {
        "steps": 0,
        "minutes": float(minutes),
        "batch_tokens": 2_048,
        "schedule": "linear",
        "peak_rate": 3e-3,
        "warmup_steps": 200,
        "label_smoothing": 0.1,
    }
    return TrainingConfig(**settings | changes)


def measure(
    make: Callable[[int], SequenceToSequence], corpus: PreparedCorpus, config: TrainingConfig
) -> dict[str, Any]:
    """Train a network made for a vocabulary; say how well it does on the validation pairs."""
    torch.manual_seed(config.seed)
    network = make(corpus.tokenizer.vocab_size)
    steps, seconds, pieces = train(network, corpus.train, config)
    loss = validation_loss(network, ordered_batches(corpus.valid, batch_tokens=2_048))
    sources, references = zip(*corpus.valid_pairs()[:SCORED], strict=True)
    found = translate(network, corpus, list(sources))
    return asdict(
        Measured(
            perplexity=perplexity(loss),
            bleu=bleu(found, references).value,
            steps=steps,
            seconds=seconds,
            pieces_per_second=pieces / seconds,
            flops=flops_per_piece(network, corpus) * pieces,
            parameters=sum(parameter.numel() for parameter in network.parameters()),
            translations=found,
        )
    )


def train(
    network: SequenceToSequence, pairs: PairIds, config: TrainingConfig
) -> tuple[int, float, int]:
    """Train for the steps or minutes of a config; return steps, seconds and target pieces."""
    trainer, stopwatch, pieces = Trainer(network, config), Stopwatch(), 0
    batches = training_batches(pairs, batch_tokens=config.batch_tokens, seed=config.seed)
    for step in trainer.steps(batches):
        pieces += step.num_pieces
        if config.minutes:
            end = 60 * config.minutes * TRAINING_SHARE
            trainer.progress = part_over(stopwatch.seconds, began=0.0, end=end)
            if trainer.progress >= 1:
                break
    return trainer.number, stopwatch.seconds, pieces


def translate(
    network: SequenceToSequence, corpus: PreparedCorpus, sources: Sequence[str]
) -> list[str]:
    """Translate text as section 6.1 says."""
    tokenizer = corpus.tokenizer
    found = search(network, [tokenizer.encode(source) for source in sources], PAPER_SEARCH)
    return [tokenizer.decode(hypothesis.pieces) for hypothesis in found]


def search(
    network: SequenceToSequence,
    sources: Sequence[list[int]],
    config: SearchConfig,
    extra: int | None = None,
    around: Around | None = None,
) -> list[Hypothesis]:
    """Find the best hypothesis for every source; at most `extra` pieces longer than that.

    What is `around` the steps of a batch may forbid some pieces.
    """
    network.eval()
    order = sorted(range(len(sources)), key=lambda index: -len(sources[index]))
    batches = []
    while order:
        size = max(_BATCH_TOKENS // ((len(sources[order[0]]) + 1) * config.beam_size), 1)
        batches.append(order[:size])
        order = order[size:]

    @torch.inference_mode()
    def search_batch(batch: list[int]) -> list[Hypothesis]:
        chosen = [sources[index] for index in batch]
        state = network.encode(pad([[*source, EOS] for source in chosen]))
        limits = [
            length_limit(len(source)) if extra is None else len(source) + extra for source in chosen
        ]
        inside: StepFunction = step
        if around:
            inside, state = around(batch, step, state, limits)
        if config.beam_size == 1:
            return greedy_search(inside, state, limits)
        return [best for best, *_ in beam_search(inside, state, limits, config)]

    def step(last: Tensor, state: Any) -> tuple[Tensor, Any]:
        x, state = network.decode(last[:, None], state)
        return network.logits(x[:, 0]).log_softmax(dim=-1), state

    cores = num_cores(next(network.parameters()).device)
    results = side_by_side(search_batch, batches, at_once=cores)
    found = dict(zip(chain(*batches), chain(*results), strict=True))
    return [found[index] for index in range(len(sources))]


def flops_per_piece(network: SequenceToSequence, corpus: PreparedCorpus) -> float:
    """Count the operations of a step, forward and backward, for each target piece."""
    batches = training_batches(corpus.train, batch_tokens=1_024, seed=1)
    (batch,) = islice(batches, 1)
    network.train()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of settings that are left as they are
        # Only PyTorch's own LSTM shows its products to the counter.
        with torch.backends.mkldnn.flags(enabled=False), FlopCounterMode(display=False) as counter:
            loss, _ = batch_loss(network, batch, smoothing=0.1)
            loss.backward()
    network.zero_grad()
    return float(counter.get_total_flops()) / batch.num_wanted
