"""What happens to a run must not show in its weights: here it happens for real."""

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from itertools import takewhile
from pathlib import Path

import pytest

from heedful.errors import StoppedError, TrainingError
from heedful.runs.events import (
    Examples,
    Finished,
    Prepared,
    RolledBack,
    Started,
    Validation,
    WentBack,
)
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.training.step import Step
from heedful.training.trainer import Trainer
from tests.conftest import SIZES

pytestmark = pytest.mark.slow  # each trains, and most more than once


def weights_of(finished: Finished) -> bytes:
    return finished.folder.weights_file.read_bytes()


def until_step(number: int, events) -> None:
    """Consume a run to where a step has just been made, and leave it there."""
    list(takewhile(lambda event: not isinstance(event, Step) or event.number < number, events))


def test_a_step_of_several_batches_goes_on_with_those_it_has_not_seen(corpus, tmp_path):
    (tmp_path / "recipe.toml").write_text(
        f"{SIZES}\n[training]\nsteps = 4\nbatch_tokens = 128\nwarmup_steps = 2\n"
        "accumulate = 3\nvalidate_every = 2\naverage_last = 1\n"
    )
    recipe = load_recipe(str(tmp_path / "recipe.toml"), **corpus)
    *_, whole = train_model(recipe, tmp_path / "whole")
    until_step(3, train_model(recipe, tmp_path / "model"))

    events = list(train_model(recipe, tmp_path / "model"))

    assert [event.step for event in events if isinstance(event, Started)] == [2]
    assert weights_of(events[-1]) == weights_of(whole)


# Damaged checkpoints


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("damage", "reason"), [(flip_a_bit, "checksum differs"), (cut_short, "not fully covered")]
)
def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(
    corpus, recipe_file, tmp_path, model_folder, damage, reason
):
    recipe, out = load_recipe(recipe_file, **corpus), tmp_path / "model"
    until_step(5, train_model(recipe, out))
    damage(out / "training" / "checkpoints" / "step-000000004.safetensors")

    events = list(train_model(recipe, out))

    (went_back,) = [event for event in events if isinstance(event, WentBack)]
    assert went_back.step == 2
    assert re.fullmatch(
        rf"step-000000004\.safetensors is damaged \(.*{reason}\)", went_back.damage[0]
    )
    assert [event.step for event in events if isinstance(event, Started)] == [2]
    assert weights_of(events[-1]) == model_folder.weights_file.read_bytes()


def test_when_all_checkpoints_are_damaged_training_begins_anew(
    corpus, recipe_file, tmp_path, model_folder
):
    recipe, out = load_recipe(recipe_file, **corpus), tmp_path / "model"
    until_step(5, train_model(recipe, out))
    for path in (out / "training" / "checkpoints").iterdir():
        cut_short(path)

    events = list(train_model(recipe, out))

    (went_back,) = [event for event in events if isinstance(event, WentBack)]
    assert (len(went_back.damage), went_back.step) == (2, 0)
    assert weights_of(events[-1]) == model_folder.weights_file.read_bytes()


@pytest.mark.parametrize("damage", [flip_a_bit, Path.unlink])
def test_a_checkpoint_lost_from_the_mean_is_made_again(
    corpus, recipe_file, tmp_path, model_folder, damage
):
    """The mean is over steps 4 and 6; step 2 is kept to make step 4 again."""
    out = tmp_path / "model"
    run = train_model(load_recipe(recipe_file, **corpus), out)
    until_step(6, run)
    assert [type(next(run)), type(next(run))] == [Validation, Examples]
    damage(out / "training" / "checkpoints" / "step-000000004.safetensors")

    events = list(run)

    assert [type(event) for event in events] == [
        WentBack, *[Step, Step, Validation, Examples] * 2, Finished,
    ]  # fmt: skip
    assert events[0].step == 2
    assert weights_of(events[-1]) == model_folder.weights_file.read_bytes()


# Requests to stop


def test_a_run_that_is_asked_to_stop_saves_the_step_it_has_made(
    corpus, recipe_file, tmp_path, model_folder
):
    recipe, out, stop = load_recipe(recipe_file, **corpus), tmp_path / "model", threading.Event()
    run = train_model(recipe, out, stop)
    until_step(5, run)
    stop.set()

    with pytest.raises(
        StoppedError,
        match=r"^stopped after step 5, which is saved; run the same command to go on$",
    ):
        next(run)
    events = list(train_model(recipe, out))

    assert [event.step for event in events if isinstance(event, Started)] == [5]
    assert weights_of(events[-1]) == model_folder.weights_file.read_bytes()
    assert not list(out.rglob("interrupted*"))


def test_a_run_that_is_asked_to_stop_while_it_prepares_takes_no_step(
    corpus, recipe_file, tmp_path, model_folder
):
    recipe, out, stop = load_recipe(recipe_file, **corpus), tmp_path / "model", threading.Event()
    run = train_model(recipe, out, stop)
    stop.set()

    with pytest.raises(
        StoppedError,
        match=r"^stopped before it goes on; run the same command, what is prepared stays$",
    ):
        list(takewhile(lambda event: not isinstance(event, Step), run))
    *_, finished = train_model(recipe, out)

    assert weights_of(finished) == model_folder.weights_file.read_bytes()


def test_a_run_that_is_asked_to_stop_where_it_saves_anyway_saves_once(
    corpus, recipe_file, tmp_path
):
    stop = threading.Event()
    run = train_model(load_recipe(recipe_file, **corpus), tmp_path / "model", stop)
    until_step(4, run)
    stop.set()

    with pytest.raises(StoppedError, match="stopped after step 4"):
        list(run)

    assert [path.name for path in sorted((tmp_path / "model" / "training").glob("*/step-*"))] == [
        "step-000000002.safetensors",
        "step-000000004.safetensors",
    ]
    assert not list(tmp_path.rglob("interrupted*"))


# A loss that diverges


def hot_recipe(tmp_path: Path, corpus: dict[str, str], peak_rate: float):
    path = tmp_path / "hot.toml"
    path.write_text(
        f"{SIZES}\n[training]\nsteps = 16\nbatch_tokens = 256\nwarmup_steps = 20\n"
        f'schedule = "noam"\npeak_rate = {peak_rate}\nvalidate_every = 3\npatience = 0\n'
        'average_last = 2\noptimizer = "adam"\n'  # recovers at a lower rate, whatever the seed
    )
    return load_recipe(str(path), **corpus)


def test_a_loss_that_diverges_goes_back_with_half_the_learning_rate(corpus, tmp_path):
    recipe = hot_recipe(tmp_path, corpus, peak_rate=2.0)

    events = list(train_model(recipe, tmp_path / "model"))

    rolled_back = [event for event in events if isinstance(event, RolledBack)]
    assert rolled_back
    for event in rolled_back:
        after = events[events.index(event) + 1]
        assert after.number == event.step + 1 <= event.diverged.number
        assert event.step % 3 == 0
    rates = {e.number: e.learning_rate for e in events if isinstance(e, Step)}
    assert rates[16] == pytest.approx(2.0 * 16 / 20 * rolled_back[-1].rate_scale)
    assert isinstance(events[-1], Finished)


def test_a_rate_that_was_halved_stays_so_when_a_run_goes_on(corpus, tmp_path):
    recipe, stop = hot_recipe(tmp_path, corpus, peak_rate=2.0), threading.Event()
    run = train_model(recipe, tmp_path / "model", stop)
    rolled_back = next(event for event in run if isinstance(event, RolledBack))
    stop.set()
    with pytest.raises(StoppedError, match="stopped after step"):
        list(run)

    step = next(e for e in train_model(recipe, tmp_path / "model") if isinstance(e, Step))

    assert rolled_back.rate_scale == 0.5
    assert step.number == rolled_back.step + 2
    assert step.learning_rate == pytest.approx(2.0 * step.number / 20 * 0.5)


def test_going_back_from_a_diverging_loss_survives_interruption(corpus, tmp_path):
    recipe, out = hot_recipe(tmp_path, corpus, peak_rate=2.0), tmp_path / "model"
    whole = list(train_model(recipe, tmp_path / "whole"))
    diverged = next(event.diverged.number for event in whole if isinstance(event, RolledBack))
    for moment in (
        lambda event: isinstance(event, Step) and event.number == diverged - 1,
        lambda event: isinstance(event, RolledBack),
    ):
        stop = threading.Event()
        run = train_model(recipe, out, stop)
        next(filter(moment, run))
        stop.set()
        with pytest.raises(StoppedError, match="stopped after step"):
            list(run)

    *_, finished = train_model(recipe, out)

    assert weights_of(finished) == weights_of(whole[-1])


def test_weights_that_are_no_numbers_are_not_saved(corpus, recipe_file, tmp_path, monkeypatch):
    losses = iter([float("nan"), 5.0, 4.0, 3.0, 3.0, 3.0])  # at the end, of two means
    monkeypatch.setattr("heedful.runs.validate.validation_loss", lambda *_: next(losses))

    events = list(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))

    (rolled_back,) = [event for event in events if isinstance(event, RolledBack)]
    assert (rolled_back.diverged.number, rolled_back.step) == (2, 0)
    assert rolled_back.rate_scale == 0.5


def test_a_loss_that_diverges_at_any_rate_is_given_up_with_advice(corpus, tmp_path):
    recipe = hot_recipe(tmp_path, corpus, peak_rate=1e6)

    with pytest.raises(
        TrainingError,
        match=r"model: the loss diverges at step \d+ \(.*, its best was .*\), also with the "
        r"learning rate at 0\.0625 of the schedule; train into another folder with a lower "
        r"peak_rate \(now 1000000\.0\) or more warmup_steps \(now 20\)",
    ):
        list(train_model(recipe, tmp_path / "model"))


# Memory


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes."),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("unable to mmap 9 bytes from file <x>: Cannot allocate memory (12)"),
    ],
)
def test_running_out_of_memory_happens_before_the_first_step_and_comes_with_advice(
    corpus, recipe_file, tmp_path, monkeypatch, error
):
    def fail(*_):
        raise error

    monkeypatch.setattr(Trainer, "rehearse", fail)
    run = train_model(load_recipe(recipe_file, **corpus), tmp_path / "model")

    with pytest.raises(
        TrainingError,
        match=r"model: out of memory with batches of 256 tokens; lower batch_tokens and raise "
        r"accumulate \(now 1\) by as much, or leave out long sentences by max_characters \(now 1,",
    ):
        until_step(1, run)

    monkeypatch.undo()
    smaller = tmp_path / "smaller.toml"
    smaller.write_text(Path(recipe_file).read_text().replace("256", "128"))
    *_, finished = train_model(load_recipe(str(smaller), **corpus), tmp_path / "model")
    assert isinstance(finished, Finished)  # the advice can be followed in the same folder


def run_out_of_memory(*_):
    raise MemoryError


def test_memory_that_runs_out_when_a_run_goes_on_loses_nothing(
    corpus, recipe_file, tmp_path, model_folder, monkeypatch
):
    recipe, out = load_recipe(recipe_file, **corpus), tmp_path / "model"
    until_step(3, train_model(recipe, out))
    monkeypatch.setattr("heedful.runs.recover.Transformer", run_out_of_memory)

    with pytest.raises(TrainingError, match=r"out of memory; what was saved is still there, so fr"):
        list(train_model(recipe, out))

    monkeypatch.undo()
    events = list(train_model(recipe, out))
    assert [event.step for event in events if isinstance(event, Started)] == [2]
    assert weights_of(events[-1]) == model_folder.weights_file.read_bytes()


def test_long_sentences_can_be_left_out_once_memory_has_run_out(
    corpus, recipe_file, tmp_path, monkeypatch
):
    monkeypatch.setattr(Trainer, "rehearse", run_out_of_memory)
    with pytest.raises(TrainingError, match="out of memory"):
        list(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))
    monkeypatch.undo()
    shorter = tmp_path / "shorter.toml"
    shorter.write_text(f"{Path(recipe_file).read_text()}\n[cleaning]\nmax_characters = 9\n")

    events = list(train_model(load_recipe(str(shorter), **corpus), tmp_path / "model"))

    (prepared,) = [event for event in events if isinstance(event, Prepared)]
    assert prepared.report.too_long > 0


def test_running_out_of_memory_while_the_time_is_planned_comes_with_advice(
    corpus, recipe_file, tmp_path, monkeypatch
):
    monkeypatch.setattr(Trainer, "steps", run_out_of_memory)

    with pytest.raises(TrainingError, match="out of memory with batches of 256 tokens; lower"):
        list(train_model(load_recipe(recipe_file, **corpus).within(1), tmp_path / "model"))


def test_another_error_of_torch_stays_a_traceback(corpus, recipe_file, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(Trainer, "rehearse", fail)

    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        list(train_model(load_recipe(recipe_file, **corpus), tmp_path / "model"))


def test_trying_the_largest_batch_leaves_no_trace(
    corpus, recipe_file, tmp_path, model_folder, monkeypatch
):
    monkeypatch.setattr(Trainer, "rehearse", lambda *_: None)

    *_, finished = train_model(load_recipe(recipe_file, **corpus), tmp_path / "model")

    assert weights_of(finished) == model_folder.weights_file.read_bytes()


# In processes of their own

LONG_RECIPE = f"""{SIZES}
[training]
steps = 60
batch_tokens = 256
warmup_steps = 20
validate_every = 3
average_last = 4
patience = 0
"""
KILLS = 21


class Command:
    """`heedful train` as a user runs it, on one thread."""

    def __init__(self, folder: Path, corpus: dict[str, str]) -> None:
        self.out = folder / "model"
        self.checkpoints = self.out / "training" / "checkpoints"
        recipe = folder / "long.toml"
        recipe.write_text(LONG_RECIPE)
        files = ["--source", corpus["source"], "--target", corpus["target"]]
        self.arguments = ["train", *files, "--recipe", str(recipe), "--out", str(self.out)]

    def start(self, *program: str, **options) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, *(program or ("-m", "heedful")), *self.arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
            **options,
        )

    def run(self, *program: str, **options) -> tuple[int, str, str]:
        process = self.start(*program, **options)
        out, err = process.communicate()
        return process.returncode, out, err

    @property
    def weights(self) -> bytes:
        return (self.out / "model.safetensors").read_bytes()


@pytest.fixture
def command(tmp_path, corpus) -> Command:
    return Command(tmp_path, corpus)


@pytest.fixture(scope="module")
def never_interrupted(tmp_path_factory, model_folder) -> Command:
    files = model_folder.path.parent  # the same text as in `corpus`
    corpus = {"source": str(files / "train.low"), "target": str(files / "train.up")}
    command = Command(tmp_path_factory.mktemp("whole"), corpus)
    assert command.run()[::2] == (0, "")
    return command


def wait_until_training(process: subprocess.Popen) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(("Training", "Going on")):
            return


def wait_until_saved(process: subprocess.Popen, folder: Path) -> None:
    """Wait until a step is saved, of which there are many more to come."""
    while process.poll() is None and not list(folder.glob("step-*.safetensors")):
        time.sleep(0.01)


def wait_for_a_write(process: subprocess.Popen, folder: Path) -> None:
    while process.poll() is None and not list(folder.glob("*.partial")):
        pass


def kill_at_some_moment(command: Command, process: subprocess.Popen, moments) -> None:
    match moments.choice(["anywhere", "training", "training", "writing"]):
        case "anywhere":
            time.sleep(moments.uniform(0, 2.5))
        case "training":
            wait_until_training(process)
            time.sleep(moments.uniform(0, 0.3))
        case "writing":
            wait_until_training(process)
            time.sleep(moments.uniform(0, 0.3))
            wait_for_a_write(process, command.checkpoints)
    process.kill()
    process.communicate()


def test_killed_at_any_moment_the_same_command_goes_on_to_the_same_bits(command, never_interrupted):
    moments, kills = random.Random(2017), 0
    while kills < KILLS:
        process = command.start()
        kill_at_some_moment(command, process, moments)
        kills += process.returncode == -signal.SIGKILL
        if (command.out / "provenance.json").exists():  # too late: another run to kill
            assert command.weights == never_interrupted.weights
            shutil.rmtree(command.out)

    assert command.run()[::2] == (0, "")

    assert command.weights == never_interrupted.weights
    assert not list(command.out.rglob("*.partial"))


DYING = """
import os, signal, sys
from heedful.__main__ import main

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

fsync = os.fsync
def write_half(file):
    path = os.readlink(f"/proc/self/fd/{file}")
    if "step-000000030" in path:
        os.truncate(path, os.path.getsize(path) // 2)
        die()
    fsync(file)

replace = os.replace
def replace_and_die(partial, path):
    replace(partial, path)
    die()

name = sys.argv.pop(1)
def when_saving(patched, original):
    return lambda path, *rest: (patched if "step-000000030" in str(path) else original)(path, *rest)

if name == "write":
    os.fsync = write_half
elif name == "before":
    os.replace = when_saving(die, os.replace)
else:
    os.replace = when_saving(replace_and_die, os.replace)
main()
"""


@pytest.mark.parametrize(
    ("moment", "left", "step"),
    [
        ("write", "step-000000030.safetensors.partial", 27),
        ("before", "step-000000030.safetensors.partial", 27),
        ("after", "step-000000030.safetensors", 30),
    ],
)
def test_killed_in_the_middle_of_a_checkpoint_it_goes_on_from_the_last_whole_one(
    command, never_interrupted, moment, left, step
):
    code, _, _ = command.run("-c", DYING, moment)
    assert code == -signal.SIGKILL
    assert (command.checkpoints / left).exists()

    code, out, err = command.run()

    assert (code, err) == (0, "")
    assert f"Going on after step {step}:" in out
    assert command.weights == never_interrupted.weights
    assert not list(command.out.rglob("*.partial"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_leaves_with_a_line_that_says_how_to_go_on(
    command, never_interrupted, number
):
    process = command.start()
    wait_until_saved(process, command.checkpoints)
    process.send_signal(number)
    _, err = process.communicate()

    assert process.returncode == 128 + number
    line = r"heedful: stopped after step (\d+), which is saved; run the same command to go on\n"
    stopped = re.fullmatch(line, err)
    assert stopped

    code, out, err = command.run()

    assert (code, err) == (0, "")
    assert f"Going on after step {stopped[1]}:" in out
    assert command.weights == never_interrupted.weights


def no_file_larger_than(limit: int):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def test_a_full_disk_loses_nothing_that_was_saved(command, never_interrupted):
    """Checkpoints grow a little with the history they hold, so that a limit stops one of them."""
    sizes = [path.stat().st_size for path in never_interrupted.checkpoints.iterdir()]

    code, _, err = command.run(preexec_fn=no_file_larger_than(min(sizes) - 2_000))

    assert code == 2
    stopped = re.fullmatch(
        r"heedful: .*/step-(\d+)\.safetensors: cannot be written, File too large; nothing saved is "
        r"lost, so make room and run the same command to go on after step (\d+)\n",
        err,
    )
    assert stopped
    assert int(stopped[1]) == int(stopped[2]) + 3
    assert not list(command.out.rglob("*.partial"))

    code, out, err = command.run()

    assert (code, err) == (0, "")
    assert f"Going on after step {stopped[2]}:" in out
    assert command.weights == never_interrupted.weights


def test_a_disk_too_full_for_the_corpus_is_one_line_and_leaves_no_folder(command):
    code, _, err = command.run(preexec_fn=no_file_larger_than(500))

    assert code == 2
    assert re.fullmatch(
        r"heedful: .*/training/corpus: cannot be written, File too large; "
        r"make room and run the same command again\n",
        err,
    )
    assert not command.out.exists()


LITTLE_MEMORY = """
import resource, sys
from pathlib import Path
import heedful.cli.display, heedful.runs.train
from heedful.__main__ import main

pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (256 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and needs RLIMIT_AS")
def test_too_little_memory_for_the_largest_batch_shows_at_once(command, tmp_path):
    wide = LONG_RECIPE.replace("d_ff = 32", "d_ff = 100_000").replace("256", "100_000")
    (tmp_path / "long.toml").write_text(wide)

    code, out, err = command.run("-c", LITTLE_MEMORY)

    assert code == 2
    assert re.match(r"heedful: .*: out of memory with batches of 100,000 tokens; lower", err)
    assert err.count("\n") == 1
    assert "step" not in out.replace("60 steps", "")
    assert not command.out.exists()
