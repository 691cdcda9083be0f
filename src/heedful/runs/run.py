"""One training run, from text files to a finished model folder."""

import gc
import math
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import torch

from heedful.data.batches import largest_batch, ordered_batches, training_batches
from heedful.data.prepare import PreparedCorpus
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.errors import DamagedError, StoppedError, TrainingError
from heedful.evaluation import Score, bleu
from heedful.machine.memory import keep_freed_memory
from heedful.machine.processes import ALONE, Processes
from heedful.model.batch import Batch
from heedful.model.transformer import Transformer
from heedful.runs.begin import begin, enrol, require_shared_folder
from heedful.runs.budget import Budget, Stopwatch
from heedful.runs.curves import write_curves
from heedful.runs.events import Event, Finished, Prepared, RolledBack, Started, Validation, WentBack
from heedful.runs.finish import write_model, write_record
from heedful.runs.forecast import forecast_bleu
from heedful.runs.plan import BEAM_COST, BLEU_SENTENCES
from heedful.runs.recipe import Recipe
from heedful.runs.refine import begin_refining, first_model, judged_pairs, make_ready
from heedful.runs.teachers import teach
from heedful.storage.checkpoint import Checkpoints, TrainingState, load_model
from heedful.storage.folder import ModelFolder, held
from heedful.text.piece_dropout import PieceDropout
from heedful.training.averaging import running_means
from heedful.training.divergence import LOWEST_RATE_SCALE, LossWatch
from heedful.training.trainer import Step, Trainer, validation_loss
from heedful.translation.translator import Translator

_AIM = 0.98  # of the minutes, so that what is misjudged does not break the promise
_LONGEST_STRETCH = 0.4  # of the time, without a validation
_RESERVE = 0.1  # of the time, kept for the end until a validation tells what it takes
_LARGEST_RESERVE = 0.25  # of the time, whatever it tells


def train_model(
    recipe: Recipe,
    out: Path,
    stop: threading.Event | None = None,
    processes: Processes = ALONE,
    stopwatch: Stopwatch | None = None,
) -> Iterator[Event]:
    """Train a model into the folder `out`, or go on where a run of the same recipe stopped.

    When `stop` is set, the step under way is finished and saved, and `StoppedError` is raised.
    Of several processes, the first alone touches the folder and decides; all yield the events.
    The minutes of a recipe that has some are counted by `stopwatch`, or else from here on.
    """
    folder, stopwatch = ModelFolder(out), stopwatch or Stopwatch()
    stop = stop or threading.Event()
    keep_freed_memory()
    processes.by_first(enrol, folder, recipe, processes.device)
    with ExitStack() as until_done:
        processes.by_first(lambda: until_done.enter_context(held(out)))
        yield from _train(recipe, folder, stop, processes, stopwatch)


def _train(
    recipe: Recipe,
    folder: ModelFolder,
    stop: threading.Event,
    processes: Processes,
    stopwatch: Stopwatch,
) -> Iterator[Event]:
    """Train what goes before the model, and then the model."""
    train = partial(train_model, stop=stop, processes=processes, stopwatch=stopwatch)
    first, plan, run = None, None, None
    if recipe.training.refining:
        yield from make_ready(recipe, folder, train, stop, stopwatch, processes)
        first = first_model(folder)
    elif recipe.training.teachers:
        yield from teach(recipe, folder, train, stop, stopwatch, processes)
    gc.collect()  # the models of these lessons would stay in memory for a while
    try:
        if first:
            corpus, recipe = processes.by_first(begin_refining, folder, recipe)
        else:
            corpus, recipe, plan = processes.by_first(
                begin, folder, recipe, processes.device, stopwatch
            )
        require_shared_folder(corpus, processes)
        run = _Run(recipe, folder, corpus, stop, processes, stopwatch, first)
        yield Prepared(
            corpus=corpus,
            report=corpus.report,
            valid_report=corpus.valid_report,
            num_train=len(run.train),
            num_valid=len(run.valid),
            vocab_size=run.tokenizer.vocab_size,
        )
        if plan:
            yield plan
        if processes.any(stop.is_set()):
            raise StoppedError(
                "stopped before it goes on; run the same command, what is prepared stays"
            )
        yield from run.events()
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        is_saved = any((folder.training / "checkpoints").glob("*.safetensors"))
        if not first and not is_saved:
            folder.recipe_file.unlink(missing_ok=True)  # nothing is lost by another recipe
        raise _out_of_memory(folder, recipe, first, is_saved) from error


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

    def __init__(
        self,
        recipe: Recipe,
        folder: ModelFolder,
        corpus: PreparedCorpus,
        stop: threading.Event,
        processes: Processes,
        stopwatch: Stopwatch,
        first: ModelFolder | None = None,
    ) -> None:
        self.recipe, self.folder, self.corpus, self.stop = recipe, folder, corpus, stop
        self.processes, self.first = processes, first
        self.tokenizer, self.train, self.valid = corpus.tokenizer, corpus.train, corpus.valid
        self.learned_from = judged_pairs(folder) if first else self.train
        self.valid_pairs = corpus.valid_pairs()
        self.model = self._untrained_model().to(processes.device)
        self.translator = Translator(self.tokenizer, PyTorchEngine(self.model), recipe.search)
        self.stopwatch, aim = stopwatch, _AIM * 60 * recipe.training.own_minutes
        self.budget = Budget(aim, stopwatch, reserve=_RESERVE * aim)
        self.trainer = Trainer(self.model, recipe.training, processes, self._progress)
        self.checkpoints = Checkpoints(
            folder.training / "checkpoints",
            # Those of the mean, the worse ones after it, and one from which all can be made again.
            keep=recipe.training.average_last + recipe.training.patience + 1,
        )
        self.piece_dropout = PieceDropout(self.tokenizer, recipe.training.piece_dropout)
        self.history: list[dict[str, Any]] = []
        self.watch = LossWatch()
        self.stretch = _Stretch()
        self.seconds = 0.0
        self.is_refined_in_vain = False

    def events(self) -> Iterator[Event]:
        """Train until the model is whole."""
        yield from self._take_up()
        if not self.recipe.training.minutes:
            self.stopwatch.restart()  # preparing is no part of a run by steps
        self.stopwatch.add(self.seconds)
        if not self.trainer.number:
            self.budget.began = self.stopwatch.seconds
        yield Started(
            config=self.model.config,
            num_parameters=self._num_parameters(),
            step=self.trainer.number,
            steps=self.recipe.training.steps,
            minutes=self.recipe.training.own_minutes,
            seconds=self.stopwatch.seconds,
            validations=tuple(_validation_of(past) for past in self.history),
        )
        self._rehearse()
        yield from self._train()
        while damage := self.processes.by_first(self._drop_lost):
            yield from self._take_up(damage)
            yield from self._train()
        stopped_early = not self._is_at_the_end()
        yield self.processes.by_first(self._finish, stopped_early)

    def _take_up(self, *known_damage: str) -> Iterator[WentBack]:
        """Go on from the newest state that is whole, or from the beginning."""
        saved, found_damage = self.processes.by_first(self.checkpoints.newest)
        state = saved or self._beginning()
        self.trainer.restore(state.step, state.tensors)
        self.trainer.rate_scale = state.notes["rate_scale"]
        self.watch = LossWatch(**state.notes["watch"])
        self.stretch = _Stretch(**state.notes["stretch"])
        self.history, self.seconds = state.notes["history"], state.notes["seconds"]
        self.budget.reserve, self.budget.began = state.notes["reserve"], state.notes["began"]
        if damage := [*known_damage, *found_damage]:
            yield WentBack(damage=damage, step=state.step)

    def _beginning(self) -> TrainingState:
        model = load_model(self.first) if self.first else self._untrained_model()
        weights = model.state_dict()
        return TrainingState(
            step=0,
            tensors={f"model.{name}": tensor for name, tensor in weights.items()},
            notes={
                "rate_scale": 1.0,
                "watch": {},
                "stretch": {},
                "history": [],
                "seconds": 0.0,
                "reserve": self.budget.reserve,
                "began": self.budget.began,
            },
        )

    def _untrained_model(self) -> Transformer:
        torch.manual_seed(self.recipe.training.seed)
        return Transformer(self.recipe.model_config(self.tokenizer.vocab_size))

    def _state(self) -> TrainingState:
        self.seconds = self.stopwatch.seconds
        return TrainingState(
            step=self.trainer.number,
            tensors=self.trainer.state(),
            notes={
                "rate_scale": self.trainer.rate_scale,
                "watch": asdict(self.watch),
                "stretch": asdict(self.stretch),
                "history": self.history,
                "seconds": self.seconds,
                "reserve": self.budget.reserve,
                "began": self.budget.began,
            },
        )

    def _rehearse(self) -> None:
        """Try the largest batch, so that memory runs out at once or not at all."""
        if not self._is_over():
            config = self.recipe.training
            largest = largest_batch(
                self.learned_from, batch_tokens=config.batch_tokens, joined=config.joined
            )
            self.trainer.rehearse(largest)

    def _train(self) -> Iterator[Event]:
        """Train to the end; whenever the loss diverges, from an earlier step."""
        config = self.recipe.training
        while not self._is_over():
            for step in self.trainer.steps(self._batches()):
                yield step
                self.watch.add(self._watched_loss(step))
                self.stretch.add(step)
                is_due = step.number % config.validate_every == 0 or self._is_overdue()
                if is_due and not self.watch.has_diverged:
                    yield from self._validate_and_save(step)
                if self.watch.has_diverged:
                    yield from self._roll_back(step)
                    break  # to the batches that follow the earlier step
                if self.processes.any(self.stop.is_set()):
                    self.processes.by_first(self._save_and_stop)
                if self._is_over():
                    break

    def _watched_loss(self, step: Step) -> float:
        """While it is refined the loss has no floor; what it says of its pieces has."""
        return math.log(step.perplexity) if self.first else step.loss

    def _batches(self) -> Iterator[Batch]:
        config = self.recipe.training
        return training_batches(
            self.learned_from,
            batch_tokens=config.batch_tokens,
            seed=config.seed,
            skip=self.trainer.number * config.accumulate,
            joined=config.joined,
            break_pieces=self.piece_dropout,
        )

    def _validate_and_save(self, step: Step) -> Iterator[Validation]:
        began = self.stopwatch.seconds
        loss = self.processes.by_first(self._validation_loss)
        if not math.isfinite(loss):
            self.watch.add(loss)
            return
        searching = self.stopwatch.seconds
        validation = self.processes.by_first(self._validation, step, loss)
        self.budget.reserve = self._ending_seconds(
            validating=self.stopwatch.seconds - began,
            averaging=self.recipe.training.average_last * (searching - began),
            # A model that does not know yet when to end searches for longer than it will.
            searching=(self.stopwatch.seconds - searching) / max(validation.length_ratio, 1.0),
        )
        self.history.append(
            {
                **asdict(validation),
                "running_loss": self.watch.smoothed,
                "seconds": round(self.stopwatch.seconds, 1),
            }
        )
        self.stretch = _Stretch()
        self.processes.by_first(self._save)
        yield validation

    def _validation_loss(self) -> float:
        tokens = self.recipe.training.batch_tokens
        return validation_loss(self.model, ordered_batches(self.valid, batch_tokens=tokens))

    def _validation(self, step: Step, loss: float) -> Validation:
        sources, references = zip(*self.valid_pairs[:BLEU_SENTENCES], strict=True)
        translations = self.translator.translate_as_found(sources, beam_size=1)
        score = bleu(translations, references)
        best = min((past["loss"] for past in self.history), default=math.inf)
        progress = self.budget.progress if self.recipe.training.minutes else None
        return Validation(
            step=step.number,
            loss=loss,
            bleu=score,
            is_best=loss < best,
            num_distinct=len(set(translations)),
            num_distinct_references=len(set(references)),
            length_ratio=sum(map(len, translations)) / sum(map(len, references)),
            train_loss=self.stretch.surprise / self.stretch.num_pieces,
            learning_rate=step.learning_rate,
            pieces_per_second=self.stretch.num_pieces / self.stretch.seconds,
            progress=progress,
            expected_bleu=self._expected_bleu(progress, score.value),
        )

    def _save(self) -> None:
        self.checkpoints.save(self._state())
        write_curves(self.folder, self._whole_history())

    def _whole_history(self) -> list[dict[str, Any]]:
        """What is known of the run so far, and of the training before it was refined."""
        if not self.first:
            return self.history
        before = self.first.provenance()
        steps, seconds = (before["training"][name] for name in ("steps", "seconds"))
        later = [
            {**past, "step": steps + past["step"], "seconds": seconds + past["seconds"]}
            for past in self.history
        ]
        return [{**past, "progress": None} for past in (*before["history"], *later)]

    def _expected_bleu(self, progress: float | None, value: float) -> float | None:
        if progress is None:
            return None
        points = [(past["progress"], past["bleu"]["value"]) for past in self.history]
        curve = forecast_bleu([*points, (progress, value)])
        return curve[-1][1] if curve else None

    def _ending_seconds(self, *, validating: float, averaging: float, searching: float) -> float:
        """Tell from a validation what the end will take: one more, means, and all pairs by beam."""
        pairs = len(self.valid_pairs) / min(BLEU_SENTENCES, len(self.valid_pairs))
        scoring = searching * pairs * BEAM_COST * self.recipe.search.beam_size
        return min(validating + averaging + scoring, _LARGEST_RESERVE * self.budget.seconds)

    def _roll_back(self, diverged: Step) -> Iterator[WentBack | RolledBack]:
        """Go back to where the loss was sound, and halve the learning rate."""
        rate_scale, best_loss = self.trainer.rate_scale / 2, self.watch.best
        if rate_scale < LOWEST_RATE_SCALE:
            if not self.first:
                self.processes.by_first(self._give_up, diverged)
            self.is_refined_in_vain = True
            return
        self.processes.by_first(self._drop_unsound)
        if went_back := list(self._take_up()):
            yield from went_back  # to diverge again, when the damaged state is made anew
            return
        self.trainer.rate_scale = rate_scale
        yield RolledBack(
            diverged=diverged,
            loss=self._watched_loss(diverged),
            best_loss=best_loss,
            step=self.trainer.number,
            rate_scale=rate_scale,
        )

    def _give_up(self, diverged: Step) -> None:
        config = self.recipe.training
        raise TrainingError(
            f"{self.folder.path}: the loss diverges at step {diverged.number} "
            f"({diverged.loss:.2f}, its best was {self.watch.best:.2f}), also with the learning "
            f"rate at {self.trainer.rate_scale:g} of the schedule; train into another folder with "
            f"a lower peak_rate (now {config.peak_rate}) or more warmup_steps "
            f"(now {config.warmup_steps:,})"
        )

    def _drop_unsound(self) -> None:
        """Drop what was saved after the loss was sound."""
        sound = [p["step"] for p in self.history if self.watch.is_sound(p["running_loss"])]
        self.checkpoints.drop_after(max(sound, default=0))

    def _save_and_stop(self) -> None:
        step = self.trainer.number
        if not self.checkpoints.at(step).path.exists():
            self.checkpoints.save_interrupted(self._state())
        raise StoppedError(
            f"stopped after step {step}, which is saved; run the same command to go on"
        )

    def _drop_lost(self) -> str | None:
        """Drop all from the first checkpoint of the mean that cannot be read, and say why."""
        for step in self._averaged_steps():
            try:
                self.checkpoints.at(step).read()
            except DamagedError as error:
                self.checkpoints.drop_after(step - 1)
                return str(error)
        return None

    def _averaged_steps(self) -> list[int]:
        """The last steps that were validated, up to the best when the run stopped early."""
        if self.is_refined_in_vain:
            return []
        validated = [past["step"] for past in self.history]
        if self._is_exhausted():
            validated = validated[: -self.recipe.training.patience]
        return validated[-self.recipe.training.average_last :]

    def _is_over(self) -> bool:
        is_validated = any(past["step"] == self.trainer.number for past in self.history[-1:])
        is_done = is_validated and self._is_at_the_end()
        return is_done or self._is_exhausted() or self.is_refined_in_vain

    def _is_overdue(self) -> bool:
        """Whether to validate out of turn: at the end, or because the machine has become slow."""
        if not self.recipe.training.minutes:
            return self._is_at_the_end()
        validated = self.history[-1]["progress"] if self.history else 0.0
        return self._progress() >= min(validated + _LONGEST_STRETCH, 1.0)

    def _is_at_the_end(self) -> bool:
        """Whether all steps are made, or the time for training is over."""
        config = self.recipe.training
        if not config.minutes:
            return self.trainer.number >= config.steps
        # Once validated as the end it is the end, though more time be left than was thought.
        return self._progress() >= 1 or any(p["progress"] >= 1 for p in self.history[-1:])

    def _progress(self) -> float:
        """The share of the time for training that is over, by the clock of the first process."""
        return self.processes.by_first(lambda: self.budget.progress)

    def _is_exhausted(self) -> bool:
        """Whether validation has not got better for as long as patience lasts."""
        patience = self.recipe.training.patience
        recent = self.history[-patience:] if patience else []
        return len(recent) == patience > 0 and not any(past["is_best"] for past in recent)

    def _average(self) -> int:
        """Give the model the mean of the last checkpoints; return of how many.

        Of as many as validate best: early ones, from when the rate was high, would do harm.
        """
        steps = self._averaged_steps()
        newest_first = (self.checkpoints.at(step).read().weights() for step in reversed(steps))
        lowest, best, num_best = math.inf, {}, 0
        for number, mean in enumerate(running_means(newest_first), start=1):
            self.model.load_state_dict(mean)
            loss = self._validation_loss() if len(steps) > 1 else 0.0
            if loss < lowest:
                lowest, best, num_best = loss, mean, number
        self.model.load_state_dict(best)
        return num_best

    def _finish(self, stopped_early: bool) -> Finished:
        num_averaged, scores, undone = 0, [], "the loss diverged"
        if not self.is_refined_in_vain:
            num_averaged, scores = self._average(), self._write_model()
            undone = self._worse_than_before(scores[0])
        if undone:
            assert self.first is not None
            self.model.load_state_dict(load_model(self.first).state_dict())
            scores = self._write_model()
        finished = Finished(
            folder=self.folder,
            scores=scores,
            num_averaged=num_averaged,
            stopped_early=stopped_early,
            seconds=self.stopwatch.seconds if self.recipe.training.minutes else self.seconds,
            undone=undone,
        )
        write_curves(self.folder, self._whole_history())
        write_record(
            finished,
            self.recipe,
            self.corpus,
            self.processes,
            num_parameters=self._num_parameters(),
            steps=self.trainer.number,
            history=self.history,
            first=self.first,
        )
        return finished

    def _worse_than_before(self, score: Score) -> str:
        """Say so where a refined model is not as good as it was."""
        before = self.first.provenance()["scores"][0]["value"] if self.first else -math.inf
        return f"BLEU was {score.value:.2f} after it" if score.value < before else ""

    def _write_model(self) -> list[Score]:
        return write_model(self.folder, self.model, self.corpus, self.recipe.search)

    def _num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.model.parameters())


def _validation_of(past: dict[str, Any]) -> Validation:
    """Read back what the history of a run has kept of a validation."""
    kept = {field.name: past[field.name] for field in fields(Validation)}
    return Validation(**kept | {"bleu": Score(**past["bleu"])})


def _out_of_memory(
    folder: ModelFolder, recipe: Recipe, first: ModelFolder | None, is_saved: bool
) -> TrainingError:
    training, cleaning = recipe.training, recipe.cleaning
    if first:
        return TrainingError(
            f"{folder.path}: out of memory while it is refined; free some and run the same command "
            f"again, or take the model as it was before, which is whole, in {first.path}"
        )
    if is_saved:
        return TrainingError(
            f"{folder.path}: out of memory; what was saved is still there, so free some and run "
            "the same command again"
        )
    return TrainingError(
        f"{folder.path}: out of memory with batches of {training.batch_tokens:,} tokens; lower "
        f"batch_tokens and raise accumulate (now {training.accumulate}) by as much, or leave out "
        f"long sentences by max_characters (now {cleaning.max_characters:,})"
    )


def _is_out_of_memory(error: Exception) -> bool:
    signs = (
        "out of memory",
        "can't allocate memory",
        "cannot allocate memory",
        "not enough memory",
        "bad_alloc",
    )
    return isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in signs)
