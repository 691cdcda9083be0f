"""What goes before the first step: a folder, a corpus and a recipe that fit together."""

import os
import tomllib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import torch

from heedful.data.parent import checksum_of
from heedful.data.prepare import Preparation, PreparedCorpus, prepare
from heedful.errors import ConfigError, ModelFolderError, StorageError
from heedful.machine.precision import refuse_missing
from heedful.machine.processes import Processes
from heedful.runs.budget import Stopwatch
from heedful.runs.events import Plan
from heedful.runs.parent import write_old_pairs
from heedful.runs.plan import make_plan, open_choices, readable_bytes
from heedful.runs.recipe import Recipe, load_recipe
from heedful.storage.folder import ModelFolder
from heedful.storage.writing import write_atomically


def begin(
    folder: ModelFolder, recipe: Recipe, device: torch.device, stopwatch: Stopwatch
) -> tuple[PreparedCorpus, Recipe, Plan | None]:
    """Complete a recipe that can be followed here, and write it and its corpus."""
    corpus = prepared(folder, recipe)
    recipe, plan = _planned(folder, recipe, corpus, stopwatch, device)
    _refuse_longer_than_positions(recipe, corpus)
    write_atomically(folder.recipe_file, recipe.toml())
    return corpus, recipe, plan


def _refuse_longer_than_positions(recipe: Recipe, corpus: PreparedCorpus) -> None:
    """Refuse sentences that a model of learned positions could not read, sooner or later."""
    model = recipe.model_config(corpus.tokenizer.vocab_size)
    longest = 1 + max(corpus.train.lengths.max(), corpus.valid.lengths.max())  # EOS
    if model.positions == "learned" and longest > model.max_length:
        raise ConfigError(
            f"max_length = {model.max_length} is too few learned positions for sentences of up to "
            f"{longest} pieces; raise it, or leave out long sentences by max_characters "
            f"(now {recipe.cleaning.max_characters:,})"
        )


def enrol(folder: ModelFolder, recipe: Recipe, device: torch.device) -> None:
    """Refuse what cannot be followed here, and a folder that is in other use."""
    refuse_missing(recipe.training.precision, device)
    try:
        str(folder.path).encode()  # as the names of checkpoints must be
    except UnicodeEncodeError:
        raise StorageError(
            f"{str(folder.path)!r}: its name is not UTF-8; choose another folder"
        ) from None
    try:
        _refuse_other_use(folder, recipe)
    except OSError as error:
        raise StorageError(
            f"{folder.path}: cannot be read, {error.strerror}; choose another folder"
        ) from error


def require_shared_folder(corpus: PreparedCorpus, processes: Processes) -> None:
    """Refuse a folder that the other processes do not see."""
    if not corpus.folder.exists():
        raise StorageError(
            f"{corpus.folder}: not there for process {processes.index + 1} of {processes.num}; "
            "name a folder that all machines share"
        )


def _refuse_other_use(folder: ModelFolder, recipe: Recipe) -> None:
    """Refuse a folder that holds anything but an unfinished run of this recipe."""
    if folder.is_finished:
        raise ModelFolderError(
            f"{folder.path} already holds a finished model; choose another folder, or delete it"
        )
    folder.refuse_foreign()
    for path in (path for each in recipe.data for path in each.files):
        if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder.path)):
            raise ConfigError(
                f"{path} lies in {folder.path}, which is to be written; choose another folder"
            )
    if folder.recipe_file.exists():
        refuse_other_recipe(folder, recipe)
    folder.diagnoses()  # which the run adds to, so it must be able to read them


def refuse_other_recipe(folder: ModelFolder, recipe: Recipe) -> None:
    """Refuse a recipe that differs from the one that a folder's run began with."""
    try:
        before = tomllib.loads(folder.recipe_file.read_text("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ModelFolderError(
            f"{folder.recipe_file}: damaged, {error}; choose another folder, or delete this one"
        ) from error
    now, chosen = tomllib.loads(recipe.toml()), open_choices(recipe)
    del now["data"]  # files are known by their content, wherever they lie
    for section, values in now.items():
        for name, value in values.items():
            old = before.get(section, {}).get(name)
            if old != value and (section, name) not in chosen:
                raise ConfigError(
                    f"{folder.path} holds a run with [{section}] {name} = {old!r}, now it is "
                    f"{value!r}; go on with the recipe it began with, or choose another folder"
                )


def is_ready(lesson: ModelFolder, recipe: Recipe) -> bool:
    """Whether a model on the way has finished, whose recipe and files must still be the same."""
    if lesson.is_finished:
        refuse_other_recipe(lesson, recipe)
        prepared(lesson, recipe)
    return lesson.is_finished


def prepared(folder: ModelFolder, recipe: Recipe) -> PreparedCorpus:
    """Prepare the corpus of a recipe in its folder, or see that the one there is of its files."""
    how = Preparation(
        cleaning=recipe.cleaning,
        tokenizer=recipe.tokenizer,
        forms=recipe.forms,
        readable_bytes=readable_bytes(recipe),
        taught=folder.taught_file if recipe.training.teachers else None,
        parent=recipe.start.folder,
    )
    if how.parent:
        _refuse_other_parent(folder, how.parent)
    if how.parent and recipe.start.mix:
        old = folder.old_file(checksum_of(how.parent), recipe.start.mix)
        if not old.exists():
            new = prepare(folder.new_pairs, recipe.data, how)
            write_old_pairs(how.parent, new, recipe.start.mix, old)
        how = replace(how, old=old)
    return prepare(folder.corpus, recipe.data, how)


def _refuse_other_parent(folder: ModelFolder, parent: ModelFolder) -> None:
    """Refuse to go on with a run whose parent is no longer what it was."""
    if folder.recipe_file.exists() and (folder.corpus / "corpus.json").exists():
        before = PreparedCorpus(folder.corpus).about["made_from"]["settings"].get("parent")
        if before != checksum_of(parent):
            raise ModelFolderError(
                f"{parent.path} is not the model that the run in {folder.path} began with; restore "
                "it, or choose another folder"
            )


def _planned(
    folder: ModelFolder,
    recipe: Recipe,
    corpus: PreparedCorpus,
    stopwatch: Stopwatch,
    device: torch.device,
) -> tuple[Recipe, Plan | None]:
    """Complete a recipe that has minutes by a plan, or by the one that the run began with."""
    if not recipe.training.minutes:
        return recipe, None
    if folder.recipe_file.exists():
        return load_recipe(str(folder.recipe_file)), None
    plan = make_plan(recipe, corpus, stopwatch, device)
    return plan.recipe, plan


def remove_if_empty(*folders: Path) -> None:
    """Leave no folder behind that nothing was written to."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
