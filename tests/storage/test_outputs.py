import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from heedful.errors import ConfigError, ModelFolderError, StoppedError
from heedful.storage.outputs import real_output
from heedful.storage.partial_file import PartialFile
from heedful.storage.writing import folder_written_whole
from heedful.translation.files import translate_file, write_lines


def shout(lines):
    return (line.upper() for line in lines)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def source(tmp_path) -> Path:
    (tmp_path / "in").write_text("a\nb\n")
    return tmp_path / "in"


# What is read


@pytest.mark.parametrize("way", ["itself", "link", "hard link"])
@pytest.mark.parametrize("name", ["out", "out.partial", "out.progress.json"])
def test_what_is_read_is_not_written_over(source, tmp_path, way, name):
    if way == "itself":
        source = source.rename(tmp_path / name)
    elif way == "link":
        (tmp_path / name).symlink_to(source)
    else:
        (tmp_path / name).hardlink_to(source)

    with pytest.raises(ConfigError, match=r"out: writing it would destroy .*, which is read; name"):
        translate_file(source, tmp_path / "out", shout, {})

    assert source.read_text() == "a\nb\n"


def test_what_is_read_beside_the_input_is_not_written_over_either(source, tmp_path):
    (tmp_path / "model" / "training").mkdir(parents=True)
    part = tmp_path / "model" / "training" / "valid.tsv"
    part.write_text("a\tA\n")

    with pytest.raises(ConfigError, match=r"valid\.tsv, which is read"):
        write_lines(part, ["x"], [tmp_path / "model"])
    (tmp_path / "terms").touch()
    with pytest.raises(ConfigError, match=r"terms: writing it would destroy .*terms, which is rea"):
        translate_file(source, tmp_path / "terms", shout, {}, read_with=[tmp_path / "terms"])

    assert part.read_text() == "a\tA\n"


def test_what_comes_from_standard_input_is_not_written_over(source):
    code = (
        "import sys; from pathlib import Path; from heedful.translation.files import write_lines;"
        "write_lines(Path(sys.argv[1]), sys.stdin)"
    )

    with source.open() as stdin:
        done = subprocess.run(
            [sys.executable, "-c", code, source], stdin=stdin, stderr=subprocess.PIPE, check=False
        )

    assert b"would destroy what is read from standard input; name another output" in done.stderr
    assert source.read_text() == "a\nb\n"


def test_a_link_to_itself_is_one_line(tmp_path):
    (tmp_path / "out").symlink_to("out")

    with pytest.raises(ConfigError, match=r"out: cannot be written, its links go round in a circl"):
        real_output(tmp_path / "out")


# What is not ours


@pytest.mark.parametrize("name", ["out.partial", "out.progress.json"])
@pytest.mark.parametrize("kind", ["file", "empty file", "link", "folder", "pipe"])
def test_what_lies_where_we_would_begin_is_left_alone(source, tmp_path, name, kind):
    taken, elsewhere = tmp_path / name, tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    match kind:
        case "file":
            taken.write_text("precious")
        case "empty file":
            taken.touch()
        case "link":
            taken.symlink_to(elsewhere)
        case "folder":
            taken.mkdir()
        case "pipe":
            os.mkfifo(taken)
    before = taken.lstat(), taken.read_text() if kind == "file" else None

    for resume in False, True:
        with pytest.raises(ConfigError, match=rf"{name} is in the way, and heedful did not write"):
            translate_file(source, tmp_path / "out", shout, {}, resume=resume)

    assert (taken.lstat(), taken.read_text() if kind == "file" else None) == before
    assert elsewhere.read_text() == "precious"
    assert not (tmp_path / "out").exists()


def test_what_a_killed_program_left_is_written_anew(tmp_path):
    code = (
        "import os, signal; from pathlib import Path; from heedful.storage.partial_file import *\n"
        f"file = PartialFile(Path({str(tmp_path / 'out')!r}))\n"
        "with file.begun(): file.write('old'); file.note(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert (tmp_path / "out.partial").read_text() == "old"

    write_lines(tmp_path / "out", ["new"])

    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "new\n"


def test_a_folder_is_replaced_only_if_all_in_it_is_ours(tmp_path):
    with folder_written_whole(tmp_path / "onnx") as partial:
        (partial / "first").touch()
    (tmp_path / "onnx" / "mine").write_text("precious")

    with (
        pytest.raises(ModelFolderError, match=r"onnx/mine was not made by heedful and is in the w"),
        folder_written_whole(tmp_path / "onnx"),
    ):
        pytest.fail("it began")

    assert (tmp_path / "onnx" / "mine").read_text() == "precious"
    assert (tmp_path / "onnx" / "first").exists()


@pytest.mark.parametrize("name", ["onnx", "onnx.partial"])
def test_a_folder_that_is_not_ours_is_left_alone(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "first").touch()

    with (
        pytest.raises(ModelFolderError, match=rf"{name}/first was not made by heedful and is in"),
        folder_written_whole(tmp_path / "onnx"),
    ):
        pytest.fail("it began")

    assert [path.name for path in tmp_path.rglob("*")] == [name, "first"]


def test_a_link_is_no_place_to_begin_a_folder(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "onnx.partial").symlink_to(tmp_path / "elsewhere")

    with (
        pytest.raises(ModelFolderError, match=r"onnx\.partial was not made by heedful"),
        folder_written_whole(tmp_path / "onnx"),
    ):
        pytest.fail("it began")


def test_a_folder_behind_a_link_is_written_where_it_is(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "onnx").symlink_to(tmp_path / "disk")

    for name in "first", "second":
        with folder_written_whole(tmp_path / "onnx") as partial:
            (partial / name).touch()

    assert (tmp_path / "onnx").is_symlink()
    assert {path.name for path in (tmp_path / "disk").iterdir()} == {"heedful.txt", "second"}


def test_a_folder_that_a_killed_program_began_is_begun_anew(tmp_path):
    code = (
        "import os, signal; from pathlib import Path; from heedful.storage.writing import *\n"
        f"with folder_written_whole(Path({str(tmp_path / 'onnx')!r})) as folder:\n"
        "    (folder / 'old').touch(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert (tmp_path / "onnx.partial" / "old").exists()

    with folder_written_whole(tmp_path / "onnx") as partial:
        (partial / "new").touch()

    assert {path.name for path in tmp_path.rglob("*")} == {"onnx", "heedful.txt", "new"}


# One writer at a time


def test_of_two_that_write_a_file_the_second_is_refused(source, tmp_path):
    first = PartialFile(tmp_path / "out")
    with first.begun():
        first.write("first\n")
        for write in (
            lambda: translate_file(source, tmp_path / "out", shout, {}),
            lambda: write_lines(tmp_path / "out", ["second"]),
        ):
            with pytest.raises(ConfigError, match="out: another program is writing it; wait for i"):
                write()

    assert (tmp_path / "out").read_text() == "first\n"
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out"}


def test_of_two_that_write_a_folder_the_second_is_refused(tmp_path):
    with folder_written_whole(tmp_path / "onnx") as partial:
        (partial / "first").touch()
        with (
            pytest.raises(ModelFolderError, match=r"onnx\.partial: another program is writing it"),
            folder_written_whole(tmp_path / "onnx"),
        ):
            pytest.fail("it began")

    assert (tmp_path / "onnx" / "first").exists()


# Links, devices, pipes and modes


def test_a_link_that_leads_nowhere_yet_is_followed(source, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "out").symlink_to("there/out")

    translate_file(source, tmp_path / "out", shout, {})

    assert os.readlink(tmp_path / "out") == "there/out"
    assert (tmp_path / "there" / "out").read_text() == "A\nB\n"


def test_a_pipe_is_written_to_and_stays(source, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)

    translate_file(source, tmp_path / "pipe", shout, {})

    assert reader.communicate()[0] == b"A\nB\n"
    assert (tmp_path / "pipe").is_fifo()


def test_nothing_can_be_gone_on_with_in_a_device(source):
    with pytest.raises(ConfigError, match="/dev/null is no file, so nothing is there to go on wit"):
        translate_file(source, Path("/dev/null"), shout, {}, resume=True)


@pytest.mark.parametrize("place", ["/dev/stdout", "log"])
def test_what_is_our_standard_output_already_is_added_to(tmp_path, place):
    code = (
        "import sys; from pathlib import Path; from heedful.translation.files import write_lines;"
        "print('before'); write_lines(Path(sys.argv[1]), ['lines']); print('after')"
    )

    with (tmp_path / "log").open("w") as stdout:
        subprocess.run([sys.executable, "-c", code, place], cwd=tmp_path, stdout=stdout, check=True)

    assert (tmp_path / "log").read_text() == "before\nlines\nafter\n"


def test_who_may_read_an_output_stays(source, tmp_path):
    private = tmp_path / "out"
    private.touch(0o600)

    def checked(lines):
        modes = {mode(path) for path in tmp_path.iterdir() if path.name.startswith("out")}
        assert modes == {0o600}  # meanwhile as well
        return shout(lines)

    translate_file(source, private, checked, {})
    write_lines(tmp_path / "new", ["x"])

    assert (mode(private), private.read_text()) == (0o600, "A\nB\n")
    umask = os.umask(0)
    os.umask(umask)
    assert mode(tmp_path / "new") == 0o666 & ~umask


@pytest.mark.parametrize("length", [242, 247, 248, 255, 300])
def test_a_name_that_is_too_long_is_one_line_and_leaves_nothing(tmp_path, length):
    with pytest.raises(ConfigError, match="cannot be written, File name too long"):
        write_lines(tmp_path / ("o" * length), ["x"])

    assert not list(tmp_path.iterdir())


def test_a_file_that_is_read_only_stays(source, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, wanted: False)  # root may write everything

    with pytest.raises(ConfigError, match="in: cannot be written, it is read-only"):
        write_lines(source, ["x"])

    assert source.read_text() == "a\nb\n"


@pytest.mark.parametrize("end", [KeyboardInterrupt, StoppedError, ConfigError, ZeroDivisionError])
def test_an_output_that_cannot_be_gone_on_with_leaves_nothing_half_written(tmp_path, end):
    def lines():
        yield "one"
        raise end

    with pytest.raises(end):
        write_lines(tmp_path / "out", lines())

    assert not list(tmp_path.iterdir())


def test_sigterm_leaves_nothing_half_written(tmp_path):
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from heedful.translation.files import write_lines\n"
        "lines = (os.kill(os.getpid(), signal.SIGTERM) or 'x' for _ in range(9))\n"
        "from heedful.errors import HeedfulError\n"
        "try: write_lines(Path(sys.argv[1]), lines)\n"
        "except HeedfulError as error: sys.exit(error.exit_code)"
    )

    done = subprocess.run([sys.executable, "-c", code, tmp_path / "out"], check=False)

    assert done.returncode == 143
    assert not list(tmp_path.iterdir())
