import os

import pytest

from heedful.errors import StorageError
from heedful.storage.writing import folder_written_whole, write_atomically


def contents(folder) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "notes.txt"
    write_atomically(path, "first")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk gone")))

    with pytest.raises(
        StorageError, match=r"notes.txt: cannot be written, disk gone; nothing saved is lost"
    ):
        write_atomically(path, "second")

    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_written_whole_takes_the_place_of_the_one_before(tmp_path):
    with folder_written_whole(tmp_path / "export") as partial:
        (partial / "before").touch()

    with folder_written_whole(tmp_path / "export") as partial:
        (partial / "after").touch()

    assert contents(tmp_path) == {"export", "export/heedful.txt", "export/after"}


def test_a_folder_that_cannot_be_written_leaves_the_one_before(tmp_path):
    with folder_written_whole(tmp_path / "export") as partial:
        (partial / "before").touch()

    with (
        pytest.raises(StorageError, match=r"export: cannot be written, No such file .*; make room"),
        folder_written_whole(tmp_path / "export") as partial,
    ):
        (partial / "gone" / "after").touch()

    assert contents(tmp_path) == {"export", "export/heedful.txt", "export/before"}


@pytest.fixture
def journal(monkeypatch) -> list[tuple[str, str]]:
    """What is made to last, and what is renamed, in the order in which the disk is told."""
    told = []
    sync, replace = os.fsync, os.replace

    def note_sync(file):
        told.append(("last", os.path.basename(os.readlink(f"/proc/self/fd/{file}"))))
        sync(file)

    def note_replace(before, after):
        told.append(("rename", os.path.basename(after)))
        replace(before, after)

    monkeypatch.setattr("os.fsync", note_sync)
    monkeypatch.setattr("os.replace", note_replace)
    return told


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="reads /proc")
def test_a_file_lasts_before_it_is_renamed_and_its_name_after_that(tmp_path, journal):
    write_atomically(tmp_path / "notes.txt", "all of it")

    assert journal == [
        ("last", "notes.txt.partial"), ("rename", "notes.txt"), ("last", tmp_path.name),
    ]  # fmt: skip


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="reads /proc")
def test_all_of_a_folder_lasts_before_it_is_renamed_and_its_name_after_that(tmp_path, journal):
    with folder_written_whole(tmp_path / "export") as partial:
        (partial / "inner").mkdir()
        (partial / "inner" / "deep").touch()
        (partial / "flat").touch()

    *contents, renamed, last = journal
    assert sorted(contents) == [("last", "deep"), ("last", "flat"), ("last", "heedful.txt")]
    assert (renamed, last) == (("rename", "export"), ("last", tmp_path.name))


def test_what_is_written_anew_may_be_read_and_run_by_whom_it_might_before(tmp_path):
    path = tmp_path / "script"
    path.touch()
    path.chmod(0o751)

    write_atomically(path, "anew")

    assert path.stat().st_mode & 0o777 == 0o751
