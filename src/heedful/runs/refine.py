"""Refining: a trained model learns to tell the best of its own translations from the worst.

It translates what it learned from, several ways each. The one that is most like the reference is
made likelier, the one that is least like it less likely (decision 20).
"""

import math
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice, takewhile, tee
from pathlib import Path

import numpy as np

from heedful.data.pair_ids import PairIds, write_weighted_pair_ids
from heedful.data.prepare import PreparedCorpus, write_rows
from heedful.errors import StoppedError
from heedful.evaluation import likeness
from heedful.machine.processes import Processes
from heedful.runs.begin import is_ready, part_of, prepared, remove_if_empty
from heedful.runs.budget import Stopwatch
from heedful.runs.events import Event, Lesson
from heedful.runs.recipe import Recipe, load_recipe
from heedful.runs.teachers import Train
from heedful.storage.folder import ModelFolder, folder_written_whole, write_atomically
from heedful.text.normalise import normalise
from heedful.text.tokenizer import Tokenizer
from heedful.training.config import TrainingConfig
from heedful.training.schedule import peak_rate
from heedful.translation.files import translate_file
from heedful.translation.translator import CHUNK, Translation, Translator, load

_WAYS = 5  # to translate a sentence, of which the best and the worst are taken
_STRENGTH = 4.0  # weight of either, by how far they are apart in BLEU from 0 to 1
_RATE = 0.06  # of the highest that it was trained with
_WARMUP_STEPS = 50
_JUDGING_SHARE = 0.3  # of the minutes, at most
_MOST_A_SECOND = 5_000  # pairs that any machine judges


def first_model(folder: ModelFolder) -> ModelFolder:
    """Return where the model is that is refined; it must stay until that is done."""
    return ModelFolder(folder.training / "first")


def judged_pairs(folder: ModelFolder) -> PairIds:
    """Read what a model learns from while it is refined."""
    return PairIds(folder.judged_ids / "pairs")


def make_ready(
    recipe: Recipe,
    folder: ModelFolder,
    train: Train,
    stop: threading.Event,
    stopwatch: Stopwatch,
    processes: Processes,
) -> Iterator[Event]:
    """Train the model that is to be refined, and write down what is to be told apart."""
    first, config = first_model(folder), recipe.training
    before = replace(config, minutes=config.first_minutes, refining=0.0)
    lesson = replace(recipe, training=before)
    if not processes.by_first(is_ready, first, lesson):
        whose = "what goes before refining"
        try:
            events = train(lesson, first.path)
            yield from part_of(config.minutes, config.first_minutes, whose, events)
        finally:
            remove_if_empty(folder.training, folder.path)
    processes.by_first(_write_recipe, folder, recipe)  # from here on it must stay the same
    if not processes.by_first(folder.judged_ids.is_dir):
        yield Lesson(about="judging")
        stopwatch.restart()  # refining has minutes of its own
        processes.by_first(_judge, recipe, folder, stop, stopwatch)
    yield Lesson(about="refining")


def begin_refining(folder: ModelFolder, recipe: Recipe) -> tuple[PreparedCorpus, Recipe]:
    """Prepare what it is validated on; return that, and the recipe of the rest."""
    rest = _rest(_write_recipe(folder, recipe))
    return prepared(folder, rest, first_model(folder).tokenizer()), rest


def _write_recipe(folder: ModelFolder, recipe: Recipe) -> Recipe:
    """Write and return the recipe of all of it, as the first model completed it."""
    completed = load_recipe(str(first_model(folder).recipe_file))
    training = replace(
        completed.training, minutes=recipe.training.minutes, refining=recipe.training.refining
    )
    whole = replace(completed, data=recipe.data, training=training)
    write_atomically(folder.recipe_file, whole.toml())
    return whole


def _rest(recipe: Recipe) -> Recipe:
    """Return the recipe that a model is refined by."""
    config, d_model = recipe.training, recipe.model_config(vocab_size=1).d_model
    peak = peak_rate(config.peak_rate, d_model=d_model, warmup_steps=config.warmup_steps)
    rest = replace(
        config,
        steps=config.refining_steps,
        minutes=config.minutes - config.first_minutes,
        teachers=0.0,
        refining=0.0,
        agreement=0.0,
        rivals=1.0,
        joined=0.0,
        piece_dropout=0.0,
        schedule="linear",
        peak_rate=_RATE * peak,
        warmup_steps=min(_WARMUP_STEPS, config.refining_steps) or _WARMUP_STEPS,
        average_last=1,  # by the loss on the references, which is not what is refined
        patience=0,
    )
    return replace(recipe, training=rest)


def _judge(
    recipe: Recipe, folder: ModelFolder, stop: threading.Event, stopwatch: Stopwatch
) -> None:
    """Translate as many pairs as there is use and time for, and judge what comes of it.

    However little time there is, some are judged.
    """
    first, rest = first_model(folder), _rest(recipe)
    corpus = prepared(folder, rest, first.tokenizer())
    translator = load(first.path)
    limit = _JUDGING_SHARE * 60 * rest.training.minutes or math.inf

    def judged_in_time(lines: Iterable[str]) -> Iterator[str]:
        lines = iter(lines)
        in_time = takewhile(lambda _: stopwatch.seconds < limit, lines)
        return judged(chain(islice(lines, CHUNK), in_time), translator)

    if not folder.judged_file.exists():
        sample = folder.training / "sample.tsv"
        write_rows(corpus, _rows_of_use(corpus, rest.training), sample)
        try:
            translate_file(
                sample,
                folder.judged_file,
                judged_in_time,
                {"first": str(first.provenance()["created"])},
                resume=True,
                stop=stop,
            )
        except StoppedError as error:
            raise StoppedError(
                "stopped while the model translates; run the same command to go on"
            ) from error
        sample.unlink()
    with folder_written_whole(folder.judged_ids) as partial:
        rows = _weighted(folder.judged_file, corpus.tokenizer)
        write_weighted_pair_ids(partial / "pairs", rows, corpus.tokenizer.vocab_size)


def _rows_of_use(corpus: PreparedCorpus, config: TrainingConfig) -> list[int]:
    """Put the pairs in an order by chance: as many as the steps will see, three ways each.

    Where minutes are counted, it is as many as could ever be judged in time.
    """
    lengths = corpus.train.lengths.max(axis=1) + 1  # EOS
    seen = config.steps * config.accumulate * config.batch_tokens / (3 * lengths.mean())
    in_time = max(60 * config.minutes * _JUDGING_SHARE * _MOST_A_SECOND, CHUNK)
    order = np.random.default_rng(config.seed).permutation(len(lengths))
    rows: list[int] = order[: math.ceil(seen or in_time)].tolist()
    return rows


def judged(lines: Iterable[str], translator: Translator) -> Iterator[str]:
    """Yield each pair of a TSV with its best translation, its worst, and how far they are apart."""
    pairs, sources = tee(lines)
    found = translator.translate_lines(
        (line.split("\t")[0] for line in sources), beam_size=_WAYS, n_best=_WAYS
    )
    for pair, translation in zip(pairs, found, strict=True):
        target = pair.split("\t")[1]
        best, worst, apart = _best_and_worst(translation, target)
        yield f"{pair}\t{best}\t{worst}\t{apart:.4f}"


def _best_and_worst(translation: Translation, target: str) -> tuple[str, str, float]:
    texts = [translation.text, *(other.text for other in translation.alternatives)]
    scores = {text: likeness(text, target) for text in map(normalise, texts)}
    best, worst = max(scores, key=scores.__getitem__), min(scores, key=scores.__getitem__)
    is_usable = all(scores) and not translation.flags
    return best, worst, scores[best] - scores[worst] if is_usable else 0.0


def _weighted(file: Path, tokenizer: Tokenizer) -> Iterator[tuple[list[int], list[int], float]]:
    """Yield every pair, and its best and worst translation where they are not equally good."""
    with file.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            source, target, best, worst, apart = line.rstrip("\n").split("\t")
            ids, weight = tokenizer.encode(source), _STRENGTH * float(apart)
            yield ids, tokenizer.encode(target), 1.0
            if weight:
                yield ids, tokenizer.encode(best), weight
                yield ids, tokenizer.encode(worst), -weight
