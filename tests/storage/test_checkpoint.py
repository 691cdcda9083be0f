import errno
import os
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save

from heedful.errors import DamagedError, ModelFolderError, StorageError
from heedful.storage.checkpoint import Checkpoint, Checkpoints, TrainingState


def state(step: int) -> TrainingState:
    tensors = {
        "model.weight": torch.arange(6.0).view(2, 3) + step,
        "optimizer.step": torch.tensor(2.0),
    }
    return TrainingState(step=step, tensors=tensors, notes={"seconds": 1 / 3})


@pytest.fixture
def checkpoints(tmp_path) -> Checkpoints:
    return Checkpoints(tmp_path / "checkpoints", keep=3)


def test_a_state_comes_back_to_the_last_bit(tmp_path):
    checkpoint = Checkpoint(tmp_path / "step-000000007.safetensors")

    checkpoint.write(state(7))
    back = checkpoint.read()

    assert (back.step, back.notes) == (7, {"seconds": 1 / 3})
    assert back.weights()["weight"].equal(state(7).tensors["model.weight"])
    assert back.tensors["optimizer.step"].equal(torch.tensor(2.0))


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Checkpoint:
    checkpoint = Checkpoint(tmp_path_factory.mktemp("whole") / "step-000000007.safetensors")
    checkpoint.write(state(7))
    return checkpoint


@given(data=st.data())
def test_a_single_changed_bit_is_noticed_wherever_it_is(whole, data):
    content = bytearray(whole.path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    damaged = Checkpoint(whole.path.with_name("damaged.safetensors"))
    damaged.path.write_bytes(content)

    with pytest.raises(DamagedError, match=r"damaged\.safetensors is damaged \("):
        damaged.read()


def test_the_same_numbers_in_another_shape_are_noticed(whole):
    with safe_open(whole.path, framework="pt") as file:
        metadata = file.metadata()
    turned = {name: tensor.reshape(-1) for name, tensor in state(7).tensors.items()}
    damaged = Checkpoint(whole.path.with_name("damaged.safetensors"))
    damaged.path.write_bytes(save(turned, metadata))

    with pytest.raises(DamagedError, match=r"damaged \(checksum differs\)"):
        damaged.read()


def test_a_checkpoint_that_cannot_be_opened_for_the_moment_is_not_thrown_away(
    checkpoints, monkeypatch
):
    def fail(*_, **__):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    checkpoints.save(state(1))
    monkeypatch.setattr("heedful.storage.checkpoint.safe_open", fail)

    with pytest.raises(StorageError, match=r"cannot be read now \(.*Too many open files\)"):
        checkpoints.newest()

    monkeypatch.undo()
    assert checkpoints.newest()[0].step == 1


def test_a_folder_that_cannot_be_made_is_told_in_a_line(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(StorageError, match=r"cannot be made, Not a directory; .* from the beginn"):
        Checkpoints(tmp_path / "file" / "checkpoints", keep=3).save(state(1))


@given(data=st.data())
def test_a_checkpoint_cut_short_is_noticed_wherever_it_ends(whole, data):
    content = whole.path.read_bytes()
    damaged = Checkpoint(whole.path.with_name("damaged.safetensors"))
    damaged.path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])

    with pytest.raises(DamagedError, match=r"damaged\.safetensors is damaged \("):
        damaged.read()


def test_a_checkpoint_that_is_gone_is_named(tmp_path):
    with pytest.raises(DamagedError, match=r"step-000000001\.safetensors is missing"):
        Checkpoint(tmp_path / "step-000000001.safetensors").read()


def test_the_last_few_are_kept(checkpoints):
    for step in (10, 20, 30, 40):
        checkpoints.save(state(step))

    assert [checkpoint.step for checkpoint in checkpoints] == [20, 30, 40]


def test_the_newest_whole_state_is_found_and_damaged_ones_are_named_and_removed(checkpoints):
    for step in (10, 20, 30):
        checkpoints.save(state(step))
    for step in (20, 30):
        os.truncate(checkpoints.at(step).path, 50)

    found, damage = checkpoints.newest()

    assert found is not None
    assert found.step == 10
    assert [line.split()[0] for line in damage] == [
        "step-000000030.safetensors",
        "step-000000020.safetensors",
    ]
    assert [checkpoint.step for checkpoint in checkpoints] == [10]


def test_when_none_is_whole_none_is_found(checkpoints):
    checkpoints.save(state(10))
    checkpoints.at(10).path.write_bytes(b"")

    found, damage = checkpoints.newest()

    assert found is None
    assert len(damage) == 1


def test_what_a_killed_write_left_behind_is_removed(checkpoints):
    checkpoints.save(state(10))
    (checkpoints.folder / "step-000000020.safetensors.partial").write_bytes(
        checkpoints.at(10).path.read_bytes()[:99]
    )

    checkpoints.newest()

    assert [path.name for path in checkpoints.folder.iterdir()] == ["step-000000010.safetensors"]


@pytest.mark.parametrize(
    "name",
    [
        "step-000000010.safetensors",
        "interrupted.safetensors",
        "interrupted.safetensors.partial",
        "step-000000020.safetensors.partial",
    ],
)
def test_what_is_called_like_a_state_of_ours_and_is_none_is_refused_and_stays(checkpoints, name):
    checkpoints.save(state(10))
    foreign = checkpoints.folder / name
    foreign.write_bytes(save({"weight": torch.ones(2)}, {"format": "pt"}))

    with pytest.raises(ModelFolderError, match=rf"{name} was not made by heedful"):
        checkpoints.newest()

    assert foreign.exists()


def test_what_others_left_beside_the_states_is_not_looked_at(checkpoints):
    checkpoints.folder.mkdir()
    foreign = [checkpoints.folder / name for name in ("step-1000.safetensors", "x.partial")]
    for path in foreign:
        path.write_text("precious")

    for step in (10, 20, 30, 40):
        checkpoints.save(state(step))
    checkpoints.newest()
    checkpoints.drop_after(0)

    assert {path.read_text() for path in foreign} == {"precious"}
    assert {*checkpoints.folder.iterdir()} == {*foreign}


def test_an_interrupted_state_is_where_to_go_on_but_not_counted_with_the_others(checkpoints):
    checkpoints.save(state(10))
    checkpoints.save_interrupted(state(13))

    found, _ = checkpoints.newest()

    assert found is not None
    assert found.step == 13
    assert [checkpoint.step for checkpoint in checkpoints] == [10]


def test_the_next_validated_state_takes_the_place_of_an_interrupted_one(checkpoints):
    checkpoints.save_interrupted(state(13))
    checkpoints.save(state(20))

    assert [path.name for path in checkpoints.folder.iterdir()] == ["step-000000020.safetensors"]


def test_an_interrupted_state_stays_until_its_successor_is_on_the_disk(checkpoints, monkeypatch):
    checkpoints.save(state(10))
    checkpoints.save_interrupted(state(13))
    monkeypatch.setattr("os.fsync", full_disk)

    with pytest.raises(StorageError, match=r"go on after step 13$"):
        checkpoints.save(state(20))

    assert checkpoints.newest()[0].step == 13


def test_what_is_too_old_goes_only_once_the_new_is_on_the_disk(checkpoints, monkeypatch):
    for step in (10, 20, 30):
        checkpoints.save(state(step))
    monkeypatch.setattr("os.fsync", full_disk)

    with pytest.raises(StorageError, match=r"go on after step 30$"):
        checkpoints.save(state(40))

    assert [checkpoint.step for checkpoint in checkpoints] == [10, 20, 30]


def full_disk(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_going_back_leaves_nothing_that_came_later(checkpoints):
    for step in (10, 20, 30):
        checkpoints.save(state(step))
    checkpoints.save_interrupted(state(33))

    checkpoints.drop_after(10)

    assert [path.name for path in checkpoints.folder.iterdir()] == ["step-000000010.safetensors"]


def test_going_back_removes_the_newest_first_so_that_no_gap_is_ever_left(checkpoints, monkeypatch):
    for step in (10, 20, 30):
        checkpoints.save(state(step))
    checkpoints.save_interrupted(state(33))
    removed, unlink = [], Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda path: removed.append(path.stem) or unlink(path))

    checkpoints.drop_after(10)

    assert removed == ["interrupted", "step-000000030", "step-000000020"]


@pytest.mark.parametrize(("saved", "where"), [([10], "after step 10"), ([], "from the beginning")])
def test_a_full_disk_is_told_with_the_step_to_go_on_from(checkpoints, monkeypatch, saved, where):
    for step in saved:
        checkpoints.save(state(step))
    before = list(checkpoints)

    monkeypatch.setattr("os.fsync", full_disk)

    with pytest.raises(
        StorageError,
        match=r"step-000000020\.safetensors: cannot be written, No space left on device; nothing "
        rf"saved is lost, so make room and run the same command to go on {where}$",
    ):
        checkpoints.save(state(20))

    assert [Checkpoint(path) for path in checkpoints.folder.iterdir()] == before
