"""One training run, from text files to a finished model folder."""

import json
import math
import platform
import time
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from heedful.card import model_card
from heedful.checkpoint import Checkpoints, save_model
from heedful.curves import write_curves
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.decoding.translator import Translator
from heedful.errors import ConfigError, ModelFolderError
from heedful.evaluation import Score, bleu, evaluate
from heedful.folder import ModelFolder, write_atomically
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.recipe import Recipe
from heedful.text.batches import ordered_batches, training_batches
from heedful.text.corpus import CleaningReport
from heedful.text.prepare import PreparedCorpus, prepare
from heedful.training.allocator import keep_freed_memory
from heedful.training.averaging import mean_weights
from heedful.training.trainer import Step, Trainer, perplexity, validation_loss

_BLEU_SENTENCES = 200  # enough to see where it goes, few enough not to hold training up


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The corpus is read, cleaned and cut into pieces."""

    corpus: PreparedCorpus
    report: CleaningReport
    num_train: int
    num_valid: int
    vocab_size: int


@dataclass(frozen=True, kw_only=True)
class Started:
    """Training begins, or goes on after `step` steps."""

    config: ModelConfig
    num_parameters: int
    step: int
    steps: int


@dataclass(frozen=True, kw_only=True)
class Validation:
    """How the model does on pairs it is not trained on."""

    step: int
    loss: float
    """Cross-entropy per target piece."""
    bleu: Score
    """Greedy search on the first validation sentences."""
    is_best: bool
    num_distinct: int
    """Different translations among those that BLEU was measured on."""
    num_distinct_references: int
    """Different references among the same."""
    length_ratio: float
    """Characters of these translations over those of their references."""
    train_loss: float
    """Cross-entropy per target piece, with dropout, over the steps since the last validation."""
    learning_rate: float
    """Of the last of these steps."""
    pieces_per_second: float
    """Target pieces learned from, over the time that these steps took."""

    @property
    def perplexity(self) -> float:
        """Of the target pieces."""
        return perplexity(self.loss)


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The model folder is complete."""

    folder: ModelFolder
    scores: list[Score]
    """On the validation pairs, by the search of the recipe."""
    num_averaged: int
    stopped_early: bool
    seconds: float
    """Spent training, over all the times it was taken up."""


Event = Prepared | Started | Step | Validation | Finished


def train_model(recipe: Recipe, out: Path) -> Iterator[Event]:
    """Train a model into the folder `out`, or go on where a run of the same recipe stopped."""
    folder = ModelFolder(out)
    _refuse_other_use(folder, recipe)
    keep_freed_memory()
    try:
        corpus = prepare(folder.training / "corpus", recipe.data, recipe.cleaning, recipe.tokenizer)
    except BaseException:
        _remove_if_empty(folder.training, folder.path)
        raise
    write_atomically(folder.recipe_file, recipe.toml())
    run = _Run(recipe, folder, corpus)
    yield Prepared(
        corpus=corpus,
        report=corpus.report,
        num_train=len(run.train),
        num_valid=len(run.valid),
        vocab_size=run.tokenizer.vocab_size,
    )
    yield from run.events()


@dataclass
class _Stretch:
    """The steps since the last validation, summed up."""

    surprise: float = 0.0
    num_pieces: int = 0
    seconds: float = 0.0

    def add(self, step: Step) -> None:
        self.surprise += step.num_pieces * math.log(step.perplexity)
        self.num_pieces += step.num_pieces
        self.seconds += step.seconds


class _Run:
    """What a run holds while it goes on."""

    def __init__(self, recipe: Recipe, folder: ModelFolder, corpus: PreparedCorpus) -> None:
        self.recipe, self.folder, self.corpus = recipe, folder, corpus
        self.tokenizer, self.train, self.valid = corpus.tokenizer, corpus.train, corpus.valid
        self.valid_pairs = corpus.valid_pairs()
        torch.manual_seed(recipe.training.seed)
        self.model = Transformer(recipe.model_config(self.tokenizer.vocab_size))
        self.translator = Translator(self.tokenizer, PyTorchEngine(self.model), recipe.search)
        self.trainer = Trainer(self.model, recipe.training)
        self.checkpoints = Checkpoints(
            folder.training / "checkpoints", keep=recipe.training.average_last
        )
        self.history: list[dict[str, Any]] = []
        self.stretch = _Stretch()
        self.seconds = 0.0

    def events(self) -> Iterator[Event]:
        config = self.recipe.training
        self._resume()
        yield Started(
            config=self.model.config,
            num_parameters=self._num_parameters(),
            step=self.trainer.number,
            steps=config.steps,
        )
        yield from self._train()
        yield self._finish()

    def _resume(self) -> None:
        if latest := self.checkpoints.latest():
            self.trainer.restore(latest.step, latest.tensors())
            notes = latest.notes()
            self.history, self.seconds = notes["history"], notes["seconds"]

    def _train(self) -> Iterator[Step | Validation]:
        config = self.recipe.training
        batches = training_batches(
            self.train,
            batch_tokens=config.batch_tokens,
            seed=config.seed,
            skip=self.trainer.number * config.accumulate,
        )
        began = time.perf_counter() - self.seconds
        if self._is_exhausted():
            return
        for step in self.trainer.steps(batches):
            yield step
            self.stretch.add(step)
            if step.number % config.validate_every == 0 or step.number == config.steps:
                validation = self._validate(step)
                self.seconds = time.perf_counter() - began
                self.history.append({**asdict(validation), "seconds": round(self.seconds, 1)})
                notes = {"history": self.history, "seconds": self.seconds}
                self.checkpoints.save(step.number, self.trainer.state(), notes)
                self.stretch = _Stretch()
                write_curves(self.folder, self.history)
                yield validation
                if self._is_exhausted():
                    return

    def _validate(self, step: Step) -> Validation:
        tokens = self.recipe.training.batch_tokens
        loss = validation_loss(self.model, ordered_batches(self.valid, batch_tokens=tokens))
        sources, references = zip(*self.valid_pairs[:_BLEU_SENTENCES], strict=True)
        translations = [t.text for t in self.translator.translate(sources, beam_size=1)]
        best = min((past["loss"] for past in self.history), default=math.inf)
        return Validation(
            step=step.number,
            loss=loss,
            bleu=bleu(translations, references),
            is_best=loss < best,
            num_distinct=len(set(translations)),
            num_distinct_references=len(set(references)),
            length_ratio=sum(map(len, translations)) / sum(map(len, references)),
            train_loss=self.stretch.surprise / self.stretch.num_pieces,
            learning_rate=step.learning_rate,
            pieces_per_second=self.stretch.num_pieces / self.stretch.seconds,
        )

    def _is_exhausted(self) -> bool:
        """Whether validation has not got better for as long as patience lasts."""
        patience = self.recipe.training.patience
        recent = self.history[-patience:] if patience else []
        return len(recent) == patience > 0 and not any(past["is_best"] for past in recent)

    def _finish(self) -> Finished:
        checkpoints = list(self.checkpoints)
        self.model.load_state_dict(mean_weights(saved.weights() for saved in checkpoints))
        sources, references = zip(*self.valid_pairs, strict=True)
        translations = self.translator.translate(sources)
        finished = Finished(
            folder=self.folder,
            scores=evaluate([translation.text for translation in translations], references),
            num_averaged=len(checkpoints),
            stopped_early=self.trainer.number < self.recipe.training.steps,
            seconds=self.seconds,
        )
        save_model(self.folder, self.model)
        write_atomically(self.folder.tokenizer_file, self.tokenizer.model)
        write_curves(self.folder, self.history)
        provenance = self._provenance(finished)
        write_atomically(self.folder.card_file, model_card(provenance))
        write_atomically(self.folder.provenance_file, json.dumps(provenance, indent=2) + "\n")
        return finished

    def _provenance(self, finished: Finished) -> dict[str, Any]:
        packages = ("heedful", "torch", "sentencepiece", "sacrebleu")
        about = self.corpus.about
        return {
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {
                "python": platform.python_version(),
                **{package: version(package) for package in packages},
            },
            "machine": {"cpu": platform.machine(), "threads": torch.get_num_threads()},
            "data": {
                "files": about["made_from"]["files"],
                "cleaning": about["cleaning"],
                "train_pairs": len(self.train),
                "valid_pairs": len(self.valid),
            },
            "model": {
                "vocab_size": self.tokenizer.vocab_size,
                "parameters": self._num_parameters(),
            },
            "training": {
                "seed": self.recipe.training.seed,
                "steps": self.trainer.number,
                "stopped_early": finished.stopped_early,
                "seconds": round(finished.seconds, 1),
                "averaged_checkpoints": finished.num_averaged,
            },
            "search": asdict(self.recipe.search),
            "scores": [asdict(score) for score in finished.scores],
            "history": self.history,
            "diagnoses": self.folder.diagnoses(),
        }

    def _num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.model.parameters())


def _refuse_other_use(folder: ModelFolder, recipe: Recipe) -> None:
    """Refuse a folder that holds anything but an unfinished run of this recipe."""
    if folder.is_finished:
        raise ModelFolderError(
            f"{folder.path} already holds a finished model; choose another folder, or delete it"
        )
    if folder.recipe_file.exists():
        before, now = tomllib.loads(folder.recipe_file.read_text()), tomllib.loads(recipe.toml())
        for section, values in now.items():
            for name, value in values.items():
                if (old := before.get(section, {}).get(name)) != value:
                    raise ConfigError(
                        f"{folder.path} holds a run with [{section}] {name} = {old!r}, now it is "
                        f"{value!r}; go on with the recipe it began with, or choose another folder"
                    )
    elif folder.path.exists() and (
        not folder.path.is_dir() or any(path.name != "training" for path in folder.path.iterdir())
    ):
        raise ModelFolderError(
            f"{folder.path} exists and is not a model folder; choose a new or empty folder"
        )


def _remove_if_empty(*folders: Path) -> None:
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
