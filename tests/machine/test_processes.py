"""Several processes train what one would: here `torchrun` starts them for real."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch.distributed import TCPStore
from torch.testing import assert_close

from heedful.data.prepare import PreparedCorpus
from heedful.errors import StorageError, TrainingError
from heedful.machine.processes import ALONE, Processes, join
from heedful.model.batch import make_batch
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.checkpoint import Checkpoints
from heedful.storage.folder import ModelFolder
from tests.conftest import SIZES, write_corpus

RECIPE = f"""{SIZES}
[training]
steps = 60
batch_tokens = 1_024
warmup_steps = 20
validate_every = 3
average_last = 4
patience = 0
"""
SECONDS = 240  # after which a run hangs


class Group:
    """`heedful train` in two processes of one thread, as a user starts it."""

    def __init__(self, folder: Path, recipe: str = RECIPE) -> None:
        self.out = folder / "model"
        self.checkpoints = self.out / "training" / "checkpoints"
        self.files = write_corpus(folder, num_pairs=600)
        self.recipe = folder / "recipe.toml"
        self.recipe.write_text(recipe)

    def start(self, *options: str) -> subprocess.Popen:
        return self.launch("--standalone", "--nproc_per_node", "2", *options)

    def launch(self, *options: str) -> subprocess.Popen:
        launcher = [sys.executable, "-m", "torch.distributed.run", *options]
        files = ["--source", self.files["source"], "--target", self.files["target"]]
        train = ["-m", "heedful", "train", *files, "--recipe", str(self.recipe)]
        return subprocess.Popen(
            [*launcher, *train, "--out", str(self.out)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        )

    def run(self, *options: str) -> tuple[int, str, str]:
        return ended(self.start(*options))

    def alone(self, out: Path) -> Path:
        """Train the same in this process."""
        *_, finished = train_model(load_recipe(str(self.recipe), **self.files), out)
        return finished.folder.path


def ended(process: subprocess.Popen) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=SECONDS)
    return process.returncode, out, err


def worker(torchrun: subprocess.Popen, rank: int) -> int:
    """Find a process of the group by its rank."""
    children = Path(f"/proc/{torchrun.pid}/task/{torchrun.pid}/children").read_text().split()
    (found,) = [
        int(child)
        for child in children
        if f"RANK={rank}".encode() in Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
    ]
    return found


def wait_for_step(group: Group, number: int) -> None:
    """Wait until a step is saved, or a later one."""
    began = time.monotonic()
    while not any(saved.step >= number for saved in Checkpoints(group.checkpoints, keep=1)):
        assert time.monotonic() - began < SECONDS
        time.sleep(0.01)


def curves(folder: Path) -> list[list[float]]:
    """Read step, training loss and validation loss at every validation."""
    with (folder / "curves.csv").open() as file:
        names = ("step", "train_loss", "validation_loss")
        return [[float(row[name]) for name in names] for row in csv.DictReader(file)]


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """The model of two processes that nothing happened to."""
    group = Group(tmp_path_factory.mktemp("whole"))
    code, out, _ = group.run()
    assert code == 0
    assert out.count("step 3: BLEU") == out.count("Ready: ") == 1
    return group.out


# Who takes what


@given(num_pairs=st.integers(1, 40), num_processes=st.integers(1, 5), num_each=st.integers(1, 4))
def test_every_pair_of_a_batch_goes_to_one_part_of_one_process(num_pairs, num_processes, num_each):
    batch = make_batch([([4 + n], [4 + n]) for n in range(num_pairs)])

    parts = [
        batch.part(index, num_processes * num_each)
        for rank in range(num_processes)
        for index in Processes(rank, num_processes).share(num_each)
    ]

    taken = [source for part in parts for source in part.source.tolist()]
    assert sorted(taken) == batch.source.tolist()


def test_without_torchrun_a_process_is_alone_and_does_all_itself():
    with join() as processes:
        tensor = torch.ones(2)
        processes.sum([tensor])

        assert processes is ALONE
        assert processes.is_first
        assert tensor.tolist() == [1, 1]
        assert processes.any(True)
        assert not processes.any(False)
        assert processes.by_first(max, 1, 2) == 2


def test_a_process_that_lost_another_says_so(monkeypatch):
    def all_reduce(tensor):
        raise RuntimeError("Connection closed by peer")

    monkeypatch.setattr("heedful.machine.processes.dist.all_reduce", all_reduce)

    with pytest.raises(
        TrainingError, match=r"process 2 of 3: another process of this run has ended or hangs; see"
    ):
        Processes(1, 3).sum([torch.ones(2)])


def test_a_folder_that_is_not_shared_is_named(monkeypatch, corpus, recipe_file, tmp_path):
    recipe = load_recipe(recipe_file, **corpus)
    prepared_elsewhere = PreparedCorpus(tmp_path / "model" / "training" / "corpus")
    monkeypatch.setattr(Processes, "by_first", lambda *_: (prepared_elsewhere, recipe, None))
    run = train_model(recipe, tmp_path / "model", processes=Processes(1, 2))

    with pytest.raises(
        StorageError, match=r"corpus: not there for process 2 of 2; name a folder that all machines"
    ):
        next(run)


# What they learn


@pytest.mark.slow
def test_no_thread_of_a_group_outlives_it(tmp_path):
    """One that did would crash the process, now and then, when Python ends."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "from heedful.machine.processes import join\n"
        "threads = lambda: len(os.listdir('/proc/self/task'))\n"
        "before = threads()\n"
        "with join() as processes:\n"
        "    assert processes.any(processes.is_first) and threads() > before\n"
        "assert threads() == before\n"
    )
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]

    done = subprocess.run(
        [*launcher, "--nproc_per_node", "2", str(script)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_two_processes_learn_what_two_threads_learn_to_the_bit(whole, tmp_path):
    torch.set_num_threads(2)
    alone = Group(tmp_path).alone(tmp_path / "alone")

    assert len(curves(whole)) == 20
    assert_close(curves(whole), curves(alone), rtol=1e-7, atol=0)
    assert weights(whole) == weights(alone)


@pytest.mark.slow
def test_two_processes_are_taught_as_one_is(tmp_path):
    taught = "steps = 12\nteachers = 0.5\nwarmup_steps = 3"
    group = Group(tmp_path, RECIPE.replace("steps = 60", taught).replace("warmup_steps = 20\n", ""))
    torch.set_num_threads(2)
    alone = group.alone(tmp_path / "alone")

    code, out, err = group.run()

    assert code == 0, err
    assert out.count("Both teachers translate") == 1
    ours, theirs = map(ModelFolder, (group.out, alone))
    assert ours.taught_file.read_bytes() == theirs.taught_file.read_bytes()
    assert weights(group.out) == weights(alone)


@pytest.mark.slow
def test_two_processes_learn_what_one_learns_without_dropout(tmp_path):
    group = Group(tmp_path, RECIPE.replace("[model]", "[model]\ndropout = 0.0"))
    alone = group.alone(tmp_path / "alone")

    assert group.run()[0] == 0

    assert_close(curves(group.out), curves(alone), rtol=1e-5, atol=0)
    ours, theirs = (load_file(out / "model.safetensors") for out in (group.out, alone))
    for name in ours:
        # A key's bias adds the same to all scores of a query: all its gradient is rounding.
        if not name.endswith("key.bias"):
            assert_close(ours[name], theirs[name], rtol=1e-3, atol=1e-4)


@pytest.mark.slow
def test_two_machines_learn_what_two_processes_of_one_learn(whole, tmp_path):
    """As in docs/distributed.md, save that both machines are this one."""
    group = Group(tmp_path)
    store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)  # keeps its port
    endpoint = ["--rdzv_endpoint", f"localhost:{store.port}", "--rdzv_conf", "is_host=0"]
    meeting = ["--rdzv_id", "my-run", "--rdzv_backend", "c10d", *endpoint]

    machines = [group.launch("--nnodes", "2", "--nproc_per_node", "1", *meeting) for _ in range(2)]

    assert [ended(machine)[0] for machine in machines] == [0, 0]
    assert weights(group.out) == weights(whole)


# What happens to them


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_when_one_is_killed_torchrun_lets_all_go_on_from_the_last_checkpoint(whole, tmp_path, rank):
    group = Group(tmp_path)
    torchrun = group.start("--max-restarts", "1")
    wait_for_step(group, 9)
    os.kill(worker(torchrun, rank), signal.SIGKILL)

    code, out, err = ended(torchrun)

    assert code == 0, err
    assert out.count("Training: ") == out.count("Going on after step ") == 1
    lost = f"heedful: process {2 - rank} of 2: another process of this run has ended or hangs; see"
    assert err.count("heedful: ") == err.count(lost) <= 1  # torchrun may end it before it speaks
    assert weights(group.out) == weights(whole)


@pytest.mark.slow
def test_a_signal_to_one_or_to_all_saves_the_step_and_stops_all(whole, tmp_path):
    group = Group(tmp_path)
    for number, sends_to in ((9, lambda torchrun: worker(torchrun, 1)), (18, lambda all: all.pid)):
        torchrun = group.start()
        wait_for_step(group, number)
        os.kill(sends_to(torchrun), signal.SIGTERM)
        code, _, err = ended(torchrun)

        assert code != 0
        assert err.count("heedful: ") == err.count("which is saved; run the same command") == 1
        assert not (group.out / "provenance.json").exists()

    code, out, err = group.run()

    assert code == 0, err
    assert "Going on after step " in out
    assert weights(group.out) == weights(whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("steps = 0", r"recipe.toml, [training]: steps must be at least 1, got 0"),
        ("steps = 60\npeak_rate = 9e9", r"also with the learning rate at 0.0625 of the schedule"),
    ],
)
def test_an_error_is_told_once_and_ends_all(tmp_path, wrong, message):
    group = Group(tmp_path, RECIPE.replace("steps = 60", wrong, 1))

    code, _, err = group.run()

    assert code != 0
    assert err.count("heedful: ") == err.count(message) == 1
    assert "exitcode  : 2 " in err  # of one at least: torchrun may end the other before it does
