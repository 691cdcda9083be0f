"""The pairs that the networks of a table learn from: one's own files, or the demo's."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from heedful.data.embedded import generate
from heedful.data.prepare import PreparedCorpus
from heedful.errors import ConfigError
from heedful.paper.request import Request
from heedful.runs.begin import prepared
from heedful.runs.recipe import load_recipe
from heedful.storage.folder import ModelFolder
from heedful.storage.writing import folder_written_whole, make_folder

_EMBEDDED = ("train", "valid")


def corpus_of(request: Request) -> PreparedCorpus:
    """Prepare what a table learns from, once for all of its cells."""
    files = files_of(request)
    recipe = load_recipe("default", **files)
    digest = hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()[:10]
    folder = request.out / "corpora" / digest
    make_folder(folder)
    return prepared(ModelFolder(folder), recipe)


def described(request: Request, corpus: PreparedCorpus) -> str:
    """Say what the numbers were measured on."""
    name = Path(request.source).name if request.source else "the demo's phrases, English to French"
    return (
        f"{len(corpus.train):,} training pairs ({name}), {len(corpus.valid):,} to validate, "
        f"{corpus.tokenizer.vocab_size:,} pieces; the paper had 4.5 million pairs and 37,000"
    )


def fingerprint(corpus: PreparedCorpus) -> str:
    """Return what tells one corpus from another."""
    files = [file["sha256"] for file in corpus.about["made_from"]["files"]]
    return hashlib.sha256(json.dumps(files).encode()).hexdigest()[:16]


def files_of(request: Request) -> dict[str, str]:
    """Return the files to learn from; where none are named, write the demo's."""
    given = {
        name: getattr(request, name)
        for name in ("source", "target", "valid_source", "valid_target")
    }
    if request.source:
        return {name: path for name, path in given.items() if path}
    for name, path in given.items():
        if path:
            option = name.replace("_", "-")
            raise ConfigError(f"--{option} is given without --source; name the source as well")
    folder = request.out / "phrases"
    if not folder.exists():
        _write_embedded(folder)
    return {"source": str(folder / "train.tsv"), "valid_source": str(folder / "valid.tsv")}


def _write_embedded(folder: Path) -> None:
    corpus = generate("fr")
    make_folder(folder.parent)
    with folder_written_whole(folder) as partial:
        for name in _EMBEDDED:
            lines: Iterator[str] = (f"{en}\t{fr}\n" for en, fr in getattr(corpus, name))
            (partial / f"{name}.tsv").write_bytes("".join(lines).encode())
