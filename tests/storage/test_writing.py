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
