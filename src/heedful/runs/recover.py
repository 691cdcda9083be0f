"""Where a run goes on: after an interruption, a damaged checkpoint, a loss that diverges."""

import torch

from heedful.errors import DamagedError, StoppedError, TrainingError
from heedful.model.transformer import Transformer
from heedful.runs.budget import RESERVE
from heedful.runs.events import RolledBack, WentBack
from heedful.runs.recipe import Recipe
from heedful.runs.session import Session
from heedful.runs.state import RunState
from heedful.storage.checkpoint import Checkpoints, TrainingState, load_model
from heedful.storage.folder import ModelFolder
from heedful.training.divergence import LOWEST_RATE_SCALE
from heedful.training.step import Step
from heedful.training.trainer import Trainer


def first_model(recipe: Recipe, vocab_size: int) -> Transformer:
    """Return a network with the weights of the model to go on from, or those of the seed."""
    if parent := recipe.start.folder:
        return load_model(parent)
    torch.manual_seed(recipe.training.seed)
    return Transformer(recipe.model_config(vocab_size))


class SavedStates:
    """The states of a run on disk, and the trainer that goes on from them."""

    def __init__(
        self, folder: ModelFolder, recipe: Recipe, trainer: Trainer, session: Session
    ) -> None:
        config = recipe.training
        self.folder, self.recipe, self.trainer, self.session = folder, recipe, trainer, session
        # Those of the mean, the worse ones after it, and one from which all can be made again.
        keep = config.average_last + config.patience + 1
        self.checkpoints = Checkpoints(folder.training / "checkpoints", keep=keep)

    def take_up(self, *known_damage: str) -> tuple[RunState, list[WentBack]]:
        """Go on from the newest state that is whole, or from the beginning."""
        saved, found_damage = self.session.processes.by_first(self.checkpoints.newest)
        if saved:
            state = RunState.of(saved.notes)
            self.trainer.restore(saved.step, saved.tensors)
        else:
            state = RunState(reserve=RESERVE * 60 * self.recipe.training.own_minutes)
            self._begin_anew()
        self.trainer.rate_scale = state.rate_scale
        damage = [*known_damage, *found_damage]
        return state, [WentBack(damage=damage, step=self.trainer.number)] if damage else []

    def roll_back(
        self, state: RunState, diverged: Step
    ) -> tuple[RunState, list[WentBack | RolledBack]]:
        """Go back to where the loss was sound, and halve the learning rate."""
        rate_scale, best_loss = state.rate_scale / 2, state.watch.best
        if rate_scale < LOWEST_RATE_SCALE:
            self.session.processes.by_first(self._give_up, state, diverged)
        self.session.processes.by_first(self.checkpoints.drop_after, state.last_sound)
        state, went_back = self.take_up()
        if went_back:  # to diverge again, when the damaged state is made anew
            return state, [*went_back]
        self.trainer.rate_scale = state.rate_scale = rate_scale
        rolled_back = RolledBack(
            diverged=diverged,
            loss=diverged.loss,
            best_loss=best_loss,
            step=self.trainer.number,
            rate_scale=rate_scale,
        )
        return state, [rolled_back]

    def save(self, state: RunState) -> None:
        """Save what was just validated."""
        self.checkpoints.save(self._now(state))

    def save_and_stop(self, state: RunState) -> None:
        """Save where a run was interrupted, and end it."""
        step = self.trainer.number
        if not self.checkpoints.at(step).path.exists():
            self.checkpoints.save_interrupted(self._now(state))
        raise StoppedError(
            f"stopped after step {step}, which is saved; run the same command to go on"
        )

    def drop_lost(self, state: RunState) -> str | None:
        """Drop all from the first checkpoint of the mean that cannot be read, and say why."""
        for step in state.averaged_steps(self.recipe.training):
            try:
                self.checkpoints.at(step).read()
            except DamagedError as error:
                self.checkpoints.drop_after(step - 1)
                return str(error)
        return None

    def _begin_anew(self) -> None:
        weights = first_model(self.recipe, self.trainer.model.config.vocab_size).state_dict()
        self.trainer.restore(0, {f"model.{name}": tensor for name, tensor in weights.items()})

    def _now(self, state: RunState) -> TrainingState:
        state.seconds = self.session.stopwatch.seconds
        return TrainingState(
            step=self.trainer.number, tensors=self.trainer.state(), notes=state.notes()
        )

    def _give_up(self, state: RunState, diverged: Step) -> None:
        config = self.recipe.training
        raise TrainingError(
            f"{self.folder.path}: the loss diverges at step {diverged.number} "
            f"({diverged.loss:.2f}, its best was {state.watch.best:.2f}), also with the learning "
            f"rate at {state.rate_scale:g} of the schedule; train into another folder with a lower "
            f"peak_rate (now {config.peak_rate}) or more warmup_steps (now {config.warmup_steps:,})"
        )


def is_out_of_memory(error: Exception) -> bool:
    """Tell lack of memory from other failures, by what the allocators say."""
    signs = (
        "out of memory",
        "can't allocate memory",
        "cannot allocate memory",
        "not enough memory",
        "bad_alloc",
    )
    return isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in signs)


def out_of_memory(folder: ModelFolder, recipe: Recipe) -> TrainingError:
    """Say what to do; where nothing is saved yet, let another recipe begin."""
    training, cleaning = recipe.training, recipe.cleaning
    if any((folder.training / "checkpoints").glob("*.safetensors")):
        return TrainingError(
            f"{folder.path}: out of memory; what was saved is still there, so free some and run "
            "the same command again"
        )
    folder.recipe_file.unlink(missing_ok=True)
    return TrainingError(
        f"{folder.path}: out of memory with batches of {training.batch_tokens:,} tokens; lower "
        f"batch_tokens and raise accumulate (now {training.accumulate}) by as much, or leave out "
        f"long sentences by max_characters (now {cleaning.max_characters:,})"
    )
