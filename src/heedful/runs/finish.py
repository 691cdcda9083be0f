"""The end of a run: a model folder that is whole, and the record of how it came to be."""

import json
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version

import torch

from heedful.data.parent import checksum_of
from heedful.data.prepare import PreparedCorpus
from heedful.data.tsv import Row
from heedful.decoding.ctranslate2_engine import CTranslate2Engine
from heedful.decoding.engine import Engine
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.evaluation import Score, bleu, evaluate
from heedful.explain.alignment import choose_alignment_head
from heedful.interop.ctranslate2 import can_compute, export_ctranslate2
from heedful.machine.processes import Processes
from heedful.model.transformer import Transformer
from heedful.runs.events import Finished, Validation
from heedful.runs.parent import old_valid_rows, translated
from heedful.runs.recipe import Recipe
from heedful.runs.validate import examples_of
from heedful.storage.card import model_card
from heedful.storage.checkpoint import Checkpoints, save_model
from heedful.storage.checksums import write_checksums
from heedful.storage.folder import ModelFolder
from heedful.storage.provenance import (
    Data,
    Example,
    Machine,
    Provenance,
    Scored,
    Search,
    Size,
    SourceFile,
    Training,
    Versions,
)
from heedful.storage.writing import write_atomically
from heedful.training.averaging import running_means
from heedful.translation.guard import habits_of
from heedful.translation.translator import Translator, load

_MOST_PAIRS = 50_000  # by which to tell what is normal
_PACKAGES = ("heedful", "torch", "ctranslate2", "sentencepiece", "sacrebleu")


def mean_of_best(
    model: Transformer, checkpoints: Checkpoints, steps: Sequence[int], loss: Callable[[], float]
) -> int:
    """Give the model the mean of the last checkpoints; return of how many.

    Of as many as validate best: early ones, from when the rate was high, would do harm.
    """
    newest_first = (checkpoints.at(step).read().weights() for step in reversed(steps))
    lowest, best, num_best = math.inf, {}, 0
    for number, mean in enumerate(running_means(newest_first), start=1):
        model.load_state_dict(mean)
        validated = loss() if len(steps) > 1 else 0.0
        if validated < lowest:
            lowest, best, num_best = validated, mean, number
    model.load_state_dict(best)
    return num_best


def write_model(
    folder: ModelFolder, model: Transformer, corpus: PreparedCorpus, recipe: Recipe
) -> tuple[list[Score], list[Example]]:
    """Write all that translating needs; return how well it does on the validation pairs."""
    tokenizer = corpus.tokenizer
    save_model(folder, model)
    write_atomically(folder.tokenizer_file, tokenizer.model)
    train = corpus.train  # read once
    head = choose_alignment_head(model, tokenizer, corpus.valid, train)
    write_atomically(folder.alignment_file, json.dumps(asdict(head)) + "\n")
    every = max(len(train) // _MOST_PAIRS, 1)
    habits = habits_of(train[row] for row in range(0, len(train), every))
    write_atomically(folder.habits_file, json.dumps(asdict(habits)) + "\n")
    if corpus.languages_file.exists():
        write_atomically(folder.languages_file, corpus.languages_file.read_text("utf-8"))
    write_checksums(folder)
    engine: Engine = PyTorchEngine(model)
    if can_compute(model.config):
        export_ctranslate2(folder)
        engine = CTranslate2Engine(folder, model.config, exact=True)  # the same, faster
    translator = Translator(tokenizer, engine, recipe.search, habits, corpus.directions)
    scores, examples = _scored(translator, corpus)
    if parent := recipe.start.folder:
        scores += _compared(translator, parent, corpus.valid_rows())
    return scores, examples


def _compared(translator: Translator, parent: ModelFolder, new: Sequence[Row]) -> list[Score]:
    """Score the model that was gone on from on the same pairs, and both on pairs it knew."""
    before, old = load(parent.path), old_valid_rows(parent)
    return [
        replace(_bleu_of(judged, rows), name=name)
        for name, judged, rows in (
            ("BLEU before", before, new),
            ("BLEU old pairs", translator, old),
            ("BLEU before old pairs", before, old),
        )
        if rows
    ]


def _bleu_of(translator: Translator, rows: Sequence[Row]) -> Score:
    return bleu(translated(translator, rows), [row.target for row in rows])


def _scored(translator: Translator, corpus: PreparedCorpus) -> tuple[list[Score], list[Example]]:
    """Translate the validation pairs; where there are several directions, each has its BLEU."""
    rows = corpus.valid_rows()
    references = [row.target for row in rows]
    translations = translated(translator, rows)
    scores = evaluate(translations, references)
    for way in corpus.directions if len(corpus.directions) > 1 else ():
        found = [
            (translation, row.target)
            for translation, row in zip(translations, rows, strict=True)
            if row.direction == way
        ]
        if found:
            score = bleu(*zip(*found, strict=True))
            scores.append(replace(score, name=f"{score.name} {way}"))
    return scores, examples_of(corpus.valid_pairs(), translations)


def write_record(
    finished: Finished,
    recipe: Recipe,
    corpus: PreparedCorpus,
    processes: Processes,
    *,
    num_parameters: int,
    steps: int,
    history: Sequence[Validation],
) -> None:
    """Write the card and, as the last file of a folder that is whole, where it all came from."""
    training = recipe.training
    provenance = Provenance(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=Versions(
            python=platform.python_version(), **{package: version(package) for package in _PACKAGES}
        ),
        machine=Machine(
            cpu=platform.machine(),
            device=processes.device.type,
            processes=processes.num,
            threads=torch.get_num_threads(),
        ),
        data=_data(recipe, corpus),
        model=Size(vocab_size=corpus.tokenizer.vocab_size, parameters=num_parameters),
        training=Training(
            seed=training.seed,
            steps=steps,
            teacher_steps=training.teacher_steps,
            teacher_minutes=training.teacher_minutes,
            minutes_given=training.own_minutes,
            stopped_early=finished.stopped_early,
            seconds=round(finished.seconds, 1),
            averaged_checkpoints=finished.num_averaged,
            parent=_parent(recipe),
        ),
        search=Search(**asdict(recipe.search)),
        scores=[Scored(**asdict(score)) for score in finished.scores],
        history=[asdict(validation) for validation in history],
        diagnoses=finished.folder.diagnoses(),
        examples=list(finished.examples),
        sizes=finished.folder.sizes(),
    )
    write_atomically(finished.folder.card_file, model_card(provenance))
    document = json.dumps(asdict(provenance), indent=2) + "\n"
    write_atomically(finished.folder.provenance_file, document)


def _parent(recipe: Recipe) -> str:
    parent = recipe.start.folder
    return f"{parent.path.name} (sha256 {checksum_of(parent)})" if parent else ""


def _data(recipe: Recipe, corpus: PreparedCorpus) -> Data:
    about = corpus.about
    return Data(
        files=[SourceFile(**file) for file in about["made_from"]["files"]],
        cleaning=about["cleaning"],
        train_pairs=len(corpus.train),
        valid_pairs=len(corpus.valid),
        credits=list(dict.fromkeys(each.credit for each in recipe.data if each.credit)),
        directions=corpus.directions,
    )
