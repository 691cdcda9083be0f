import json
import shutil
import subprocess
import zipfile
from dataclasses import asdict, replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

import heedful
from heedful.__main__ import main
from heedful.errors import ConfigError, ModelFolderError
from heedful.runs.pack import opened, pack
from heedful.storage.folder import ModelFolder
from heedful.storage.provenance import Example


@pytest.fixture
def copied(model_folder, tmp_path) -> ModelFolder:
    return ModelFolder(Path(shutil.copytree(model_folder.path, tmp_path / "copied")))


@pytest.fixture
def info(monkeypatch, capsys):
    """Run `heedful info`; return its exit code, output and errors."""

    def run(path: Path) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["heedful", "info", str(path)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def unpacked(path: Path, into: Path) -> ModelFolder:
    """Unpack as anybody does, by a program that we did not write."""
    subprocess.run(["unzip", "-q", str(path), "-d", str(into)], check=True)
    (folder,) = into.iterdir()
    return ModelFolder(folder)


def contents(path: Path) -> dict[str, bytes]:
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.skipif(not shutil.which("unzip"), reason="unzip is not installed")
def test_what_is_unpacked_translates_like_what_was_packed(model_folder, tmp_path):
    pack(model_folder, tmp_path / "given.zip")

    folder = unpacked(tmp_path / "given.zip", tmp_path / "there")

    assert folder.path.name == "given"
    ours, theirs = (heedful.load(it.path).translate("a b c") for it in (model_folder, folder))
    assert theirs == ours
    assert {path.name for path in folder.path.iterdir()} == {
        "README.md", "alignment.json", "checksums.json", "config.json", "ctranslate2",
        "curves.csv", "curves.svg", "habits.json", "provenance.json", "recipe.toml",
        "tokenizer.model",
    }  # fmt: skip


def test_no_sentence_of_the_corpus_and_no_folder_of_its_files_is_in_a_pack(model_folder, tmp_path):
    pairs = (model_folder.corpus / "train.tsv").read_text() + (
        model_folder.corpus / "valid.tsv"
    ).read_text()
    sentences = {side for line in pairs.splitlines() for side in line.split("\t") if len(side) > 8}

    pack(model_folder, tmp_path / "m.zip")

    for name, content in contents(tmp_path / "m.zip").items():
        assert not [it for it in sentences if it.encode() in content], name
        assert str(model_folder.path.parent).encode() not in content, name
    assert str(model_folder.path.parent) in model_folder.recipe_file.read_text()


def test_examples_stay_if_that_is_asked_for(model_folder, tmp_path):
    pack(model_folder, tmp_path / "m.zip", with_examples=True)

    found = contents(tmp_path / "m.zip")
    for example in model_folder.provenance().examples:
        assert example.source in found["m/README.md"].decode()
        assert example.source in found["m/provenance.json"].decode()


def test_a_card_of_ones_own_is_packed_as_it_is_and_that_is_said(copied, tmp_path, capsys, info):
    copied.card_file.write_text("# Mine\n")

    assert pack(copied, tmp_path / "m.zip").is_card_as_it_was
    assert contents(tmp_path / "m.zip")["m/README.md"] == b"# Mine\n"


def test_a_card_of_ones_own_that_shows_examples_is_refused_until_one_has_decided(copied, tmp_path):
    examples = [Example(source="a | b", translation="", reference="c")]
    document = replace(copied.provenance(), examples=examples)
    copied.provenance_file.write_text(json.dumps(asdict(document)))
    copied.card_file.write_text("# Mine\n\n| `a \\| b` |\n")

    with pytest.raises(
        ConfigError, match=r"README\.md is not as heedful writes it, and shows 'a \|"
    ):
        pack(copied, tmp_path / "m.zip")
    assert not (tmp_path / "m.zip").exists()

    pack(copied, tmp_path / "m.zip", with_examples=True)
    copied.card_file.unlink()
    assert not pack(copied, tmp_path / "m.zip").is_card_as_it_was


def test_the_card_of_a_pack_tells_of_what_is_in_it(model_folder, tmp_path):
    assert not pack(model_folder, tmp_path / "m.zip").is_card_as_it_was

    card = contents(tmp_path / "m.zip")["m/README.md"].decode()
    assert "`ctranslate2/`" in card
    assert "`training/`" not in card
    assert "`model.safetensors`" not in card


def test_weights_stay_if_that_is_asked_for_or_nothing_else_translates(copied, tmp_path):
    pack(copied, tmp_path / "m.zip", with_weights=True)
    shutil.rmtree(copied.ctranslate2)
    copied.checksums_file.unlink()
    pack(copied, tmp_path / "n.zip")

    for name in ("m", "n"):
        found = contents(tmp_path / f"{name}.zip")
        assert found[f"{name}/model.safetensors"] == copied.weights_file.read_bytes()


def test_who_wants_weights_of_a_pack_without_them_is_told_how_to_pack_them(model_folder, tmp_path):
    pack(model_folder, tmp_path / "m.zip")

    wanted = pytest.raises(ModelFolderError, match=r"m\.zip has no model\.safetensors; .*--with-w")
    with wanted, opened(tmp_path / "m.zip") as folder:
        heedful.load(folder.path, "pytorch")


def test_the_same_model_packs_into_the_same_bytes(copied, tmp_path):
    pack(copied, tmp_path / "m.zip")
    first = (tmp_path / "m.zip").read_bytes()
    for path in copied.path.rglob("*"):
        path.touch()

    pack(copied, tmp_path / "m.zip")

    assert (tmp_path / "m.zip").read_bytes() == first


def test_info_tells_of_a_pack_as_of_a_folder_and_finds_it_whole(model_folder, tmp_path, info):
    pack(model_folder, tmp_path / "m.zip")

    code, out, err = info(tmp_path / "m.zip")

    assert (code, err) == (0, "")
    assert "not usable yet: most sentences are wrong" in " ".join(out.split())
    assert "14 files are as they were made" in out
    assert "training/" not in out
    assert "training/" in info(model_folder.path)[1]


@pytest.mark.parametrize("name", ["README.md", "recipe.toml", "ctranslate2/model.bin"])
def test_info_finds_what_was_changed_in_a_pack(model_folder, tmp_path, info, name):
    pack(model_folder, tmp_path / "m.zip")
    with ZipFile(tmp_path / "m.zip") as archive:
        archive.extractall(tmp_path)
    with (tmp_path / "m" / name).open("ab") as file:
        file.write(b"\n")

    code, out, err = info(tmp_path / "m")

    assert code == 2
    assert f"changed: {name}" in out
    assert f"m: not as it was made: {name} is damaged" in err
    assert err.count("\n") == 1


def test_what_was_taken_out_of_a_folder_is_no_damage(copied, info):
    copied.weights_file.unlink()

    code, out, _ = info(copied.path)

    assert code == 0
    assert "gone: model.safetensors" in out


def test_a_damaged_model_is_not_packed(copied, tmp_path):
    with copied.tokenizer_file.open("ab") as file:
        file.write(b"x")

    with pytest.raises(ModelFolderError, match=r"not as it was made: tokenizer\.model is damaged"):
        pack(copied, tmp_path / "m.zip")

    assert not (tmp_path / "m.zip").exists()


def test_a_model_that_is_not_there_or_not_finished_is_not_packed(tmp_path, model_folder):
    with pytest.raises(ModelFolderError, match="nowhere: no such model folder"):
        pack(ModelFolder(tmp_path / "nowhere"), tmp_path / "m.zip")
    with pytest.raises(ModelFolderError, match="is a file and no model folder; if it was packed"):
        heedful.load(model_folder.card_file)


def test_a_pack_is_not_written_over_the_model_nor_over_a_folder(copied, tmp_path):
    with pytest.raises(ConfigError, match=r"would destroy .*config\.json, which is read"):
        pack(copied, copied.config_file)
    with pytest.raises(ConfigError, match="is a folder; name a file to write"):
        pack(copied, tmp_path)
    with pytest.raises(ConfigError, match=r"is no file; name a file to write, such as model\.zip"):
        pack(copied, Path("/dev/null"))


@pytest.mark.parametrize("name", ["a\udcff.zip", "a\\b.zip", "a\nb.zip"])
def test_a_name_that_a_folder_in_a_zip_cannot_have_is_refused(model_folder, tmp_path, name):
    with pytest.raises(ConfigError, match="the folder in it would have its name"):
        pack(model_folder, tmp_path / name)

    assert not any(tmp_path.iterdir())


def test_what_somebody_put_into_a_folder_of_ours_is_not_given_away(copied, tmp_path):
    (copied.path / "notes.txt").write_text("mine")
    pack(copied, tmp_path / "m.zip")
    (copied.ctranslate2 / "notes.txt").write_text("mine")

    with pytest.raises(ModelFolderError, match=r"notes\.txt was not made by heedful"):
        pack(copied, tmp_path / "n.zip")

    assert "m/notes.txt" not in contents(tmp_path / "m.zip")


def written(path: Path, *names: str, **changes: object) -> Path:
    with ZipFile(path, "w") as archive:
        for name in names:
            info = ZipInfo(name)
            for key, value in changes.items():
                setattr(info, key, value)
            archive.writestr(info, b"0" * 10_000)
    return path


@pytest.mark.parametrize(
    ("names", "changes", "why"),
    [
        (["../m/config.json"], {}, "'../m/config.json' does not belong into a model folder"),
        (["/m/config.json"], {}, "'/m/config.json' does not belong into a model folder"),
        (["m/../../x"], {}, "does not belong into a model folder"),
        (["config.json"], {}, "'config.json' does not belong into a model folder"),
        (["m/link"], {"external_attr": 0o120777 << 16}, "'m/link' does not belong"),
        (["m/a", "n/a"], {}, "it holds 2 folders in place of one"),
        (["m/a"], {"compress_type": ZIP_DEFLATED}, "its parts are larger than itself"),
    ],
)
def test_a_zip_of_a_stranger_is_refused_if_it_is_not_like_ours(tmp_path, names, changes, why):
    path = written(tmp_path / "odd.zip", *names, **changes)

    with (
        pytest.raises(ModelFolderError, match=f"odd.zip: cannot be unpacked, .*{why}"),
        opened(path),
    ):
        pass

    assert not (tmp_path.parent / "m").exists()


def test_a_zip_that_was_cut_short_or_changed_is_refused(model_folder, tmp_path, info):
    pack(model_folder, tmp_path / "m.zip")
    content = bytearray((tmp_path / "m.zip").read_bytes())
    (tmp_path / "short.zip").write_bytes(content[: len(content) // 2])
    at = content.index(b"Trained with heedful")
    content[at] ^= 1
    (tmp_path / "flipped.zip").write_bytes(content)
    (tmp_path / "none.zip").write_bytes(b"nothing")

    for name in ("short", "flipped", "none"):
        code, _, err = info(tmp_path / f"{name}.zip")
        assert code == 2
        assert err.startswith(f"heedful: {tmp_path / name}.zip")
        assert err.count("\n") == 1


def test_an_error_in_a_zip_names_the_zip(tmp_path, info):
    code, _, err = info(written(tmp_path / "m.zip", "m/config.json"))

    assert code == 2
    assert err.startswith(f"heedful: {tmp_path}/m.zip/config.json: damaged")


def test_a_checksum_leads_nowhere_out_of_the_folder(copied, info):
    copied.checksums_file.write_text('{"files": {"../../etc/hostname": "0"}}')

    code, _, err = info(copied.path)

    assert code == 2
    assert "checksums.json: '../../etc/hostname' is no file of a model folder" in err


def test_zips_of_ours_are_stored_so_that_nothing_in_them_grows(model_folder, tmp_path):
    pack(model_folder, tmp_path / "m.zip")

    with ZipFile(tmp_path / "m.zip") as archive:
        assert {it.compress_type for it in archive.infolist()} == {zipfile.ZIP_STORED}
        assert {it.date_time for it in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_small_pack_has_its_weights_rounded_twice_and_translates_the_same(model_folder, tmp_path):
    lines = ["a b c", "f e d c b a", "c", "a a b"]
    pack(model_folder, tmp_path / "small.zip", small=True)

    with opened(tmp_path / "small.zip") as folder:
        assert folder.weights_file.stat().st_size < 0.6 * model_folder.weights_file.stat().st_size
        sizes = [(it.ctranslate2 / "model.bin").stat().st_size for it in (folder, model_folder)]
        assert sizes[0] < sizes[1]
        assert folder.provenance().model.is_rounded
        ours, theirs = (
            heedful.load(it.path).translate(lines, beam_size=4) for it in (model_folder, folder)
        )
        assert [it.text for it in ours] == [it.text for it in theirs]  # rounded when loaded, too
        assert heedful.load(folder.path, "pytorch").translate("a b c").text
        with pytest.raises(ConfigError, match=r"weights were rounded .* so there is no 'exact'"):
            heedful.load(folder.path, "exact")
