"""One training run, from a recipe to a finished model folder, as a stream of events."""

import math
from collections.abc import Iterator, Sequence

from heedful.data.batches import largest_batch, training_batches
from heedful.data.prepare import PreparedCorpus
from heedful.model.batch import Batch
from heedful.runs.begin import begin, enrol, require_shared_folder
from heedful.runs.budget import AIM, LARGEST_RESERVE, part_over
from heedful.runs.curves import write_curves
from heedful.runs.events import (
    Event,
    Examples,
    Finished,
    Prepared,
    Started,
    Validation,
)
from heedful.runs.finish import mean_of_best, write_model, write_record
from heedful.runs.recipe import Recipe
from heedful.runs.recover import SavedStates, first_model, is_out_of_memory, out_of_memory
from heedful.runs.session import Session
from heedful.runs.state import RunState, Stretch
from heedful.runs.validate import Validator
from heedful.storage.folder import ModelFolder
from heedful.training.step import Step
from heedful.training.trainer import Trainer

_LONGEST_STRETCH = 0.4  # of the time, without a validation


def run(recipe: Recipe, folder: ModelFolder, session: Session) -> Iterator[Event]:
    """Train one model, or go on where a run of the same recipe stopped."""
    processes = session.processes
    processes.by_first(enrol, folder, recipe, processes.device)
    try:
        corpus, recipe, plan = processes.by_first(
            begin, folder, recipe, processes.device, session.stopwatch
        )
        require_shared_folder(corpus, processes)
        yield Prepared(
            folder=folder,
            corpus=corpus,
            report=corpus.report,
            valid_report=corpus.valid_report,
            num_train=len(corpus.train),
            num_valid=len(corpus.valid),
            vocab_size=corpus.tokenizer.vocab_size,
        )
        if plan:
            yield plan
        session.refuse_if_asked_to_stop()
        yield from _Run(recipe, folder, corpus, session).events()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise out_of_memory(folder, recipe) from error


class _Run:
    """A model in training: the loop over its steps, and what is decided between two of them."""

    def __init__(
        self, recipe: Recipe, folder: ModelFolder, corpus: PreparedCorpus, session: Session
    ) -> None:
        self.recipe, self.config, self.folder = recipe, recipe.training, folder
        self.corpus, self.train, self.processes = corpus, corpus.train, session.processes
        # Preparing is no part of a run by steps.
        self.session = session if self.config.minutes else session.anew()
        self.stopwatch = self.session.stopwatch
        model = first_model(recipe, corpus.tokenizer.vocab_size)
        self.model = model.to(self.processes.device)
        self.trainer = Trainer(self.model, self.config, self.processes)
        self.validator = Validator(self.model, corpus, recipe)
        self.saved = SavedStates(folder, recipe, self.trainer, self.session)

    def events(self) -> Iterator[Event]:
        """Train until the model is whole."""
        self.state, went_back = self.saved.take_up()
        self.stopwatch.add(self.state.seconds)
        if not self.trainer.number:
            self.state.began = self.stopwatch.seconds
        self._look_at_the_clock()
        yield from went_back
        yield self._started()
        if not self._is_over():  # a dry run, so that memory runs out at once or not at all
            self.trainer.rehearse(largest_batch(self.train, batch_tokens=self.config.batch_tokens))
        yield from self._train()
        while damage := self.processes.by_first(self.saved.drop_lost, self.state):
            yield from self._go_on(self.saved.take_up(damage))
            yield from self._train()
        yield self.processes.by_first(self._finish)

    def _go_on(self, taken_up: tuple[RunState, Sequence[Event]]) -> Iterator[Event]:
        self.state, events = taken_up
        self._look_at_the_clock()
        yield from events

    def _started(self) -> Started:
        return Started(
            folder=self.folder,
            config=self.model.config,
            num_parameters=self.model.num_parameters,
            step=self.trainer.number,
            steps=self.config.steps,
            minutes=self.config.own_minutes,
            seconds=self.stopwatch.seconds,
            validations=tuple(self.state.history),
        )

    def _train(self) -> Iterator[Event]:
        """Train to the end; whenever the loss diverges, from an earlier step."""
        while not self._is_over():
            for step in self.trainer.steps(self._batches()):
                yield step
                self.state.add(step)
                self._look_at_the_clock()
                if self._is_due() and not self.state.watch.has_diverged:
                    yield from self._validate_and_save(step)
                if self.state.watch.has_diverged:
                    yield from self._go_on(self.saved.roll_back(self.state, step))
                    break  # to the batches that follow the earlier step
                if self.processes.any(self.session.stop.is_set()):
                    self.processes.by_first(self.saved.save_and_stop, self.state)
                if self._is_over():
                    break

    def _batches(self) -> Iterator[Batch]:
        return training_batches(
            self.train,
            batch_tokens=self.config.batch_tokens,
            seed=self.config.seed,
            skip=self.trainer.number * self.config.accumulate,
        )

    def _look_at_the_clock(self) -> None:
        """Let all know which part of the training is over, by the clock of the first."""
        self.trainer.progress = self.processes.by_first(self._progress)

    def _progress(self) -> float:
        if not self.config.minutes:
            return self.trainer.number / self.config.steps
        end = AIM * 60 * self.config.own_minutes - self.state.reserve
        return part_over(self.stopwatch.seconds, began=self.state.began, end=end)

    def _validate_and_save(self, step: Step) -> Iterator[Event]:
        began = self.stopwatch.seconds
        loss = self.processes.by_first(self.validator.loss)
        if not math.isfinite(loss):
            self.state.watch.add(loss)
            return
        searching = self.stopwatch.seconds
        validation, examples = self.processes.by_first(self._validation, step, loss)
        needed = self.validator.ending_seconds(
            validating=self.stopwatch.seconds - began,
            searching=self.stopwatch.seconds - searching,
            length_ratio=validation.length_ratio,
        )
        self.state.reserve = min(needed, LARGEST_RESERVE * AIM * 60 * self.config.own_minutes)
        self.state.history.append(validation)
        self.state.stretch = Stretch()
        self.processes.by_first(self._save)
        self._look_at_the_clock()
        yield validation
        yield examples

    def _validation(self, step: Step, loss: float) -> tuple[Validation, Examples]:
        found, stretch, history = self.validator.search(), self.state.stretch, self.state.history
        validation = Validation(
            step=step.number,
            loss=loss,
            bleu=found.bleu,
            is_best=loss < min((past.loss for past in history), default=math.inf),
            num_distinct=found.num_distinct,
            num_distinct_references=found.num_distinct_references,
            length_ratio=found.length_ratio,
            train_loss=stretch.surprise / stretch.num_pieces,
            learning_rate=step.learning_rate,
            pieces_per_second=stretch.num_pieces / stretch.seconds,
            running_loss=self.state.watch.smoothed,
            progress=self._progress(),
            seconds=round(self.stopwatch.seconds, 1),
        )
        return validation, Examples(step=step.number, found=tuple(found.examples))

    def _save(self) -> None:
        self.saved.save(self.state)
        write_curves(self.folder, self.state.history)

    def _is_due(self) -> bool:
        """Whether to validate: now and then, at the end, and when the machine has become slow."""
        if self.trainer.number % self.config.validate_every == 0 or self._is_at_the_end():
            return True
        validated = self.state.history[-1].progress if self.state.history else 0.0
        return self.config.minutes > 0 and self.trainer.progress >= validated + _LONGEST_STRETCH

    def _is_over(self) -> bool:
        is_validated = self.state.last_validated == self.trainer.number > 0
        is_done = is_validated and self._is_at_the_end()
        return is_done or self.state.is_exhausted(self.config)

    def _is_at_the_end(self) -> bool:
        """Whether all steps are made, or the time for training is over.

        Once validated as the end it is the end, though more time be left than was thought.
        """
        return self.trainer.progress >= 1 or any(v.progress >= 1 for v in self.state.history[-1:])

    def _finish(self) -> Finished:
        steps = self.state.averaged_steps(self.config)
        num_averaged = mean_of_best(self.model, self.saved.checkpoints, steps, self.validator.loss)
        scores, examples = write_model(self.folder, self.model, self.corpus, self.recipe)
        finished = Finished(
            folder=self.folder,
            scores=scores,
            examples=tuple(examples),
            num_averaged=num_averaged,
            stopped_early=not self._is_at_the_end(),
            seconds=self.stopwatch.seconds if self.config.minutes else self.state.seconds,
        )
        write_curves(self.folder, self.state.history)
        write_record(
            finished,
            self.recipe,
            self.corpus,
            self.processes,
            num_parameters=self.model.num_parameters,
            steps=self.trainer.number,
            history=self.state.history,
        )
        return finished
