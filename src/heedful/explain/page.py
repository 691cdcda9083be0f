"""One HTML file that holds a translator: program, style, vocabulary and weights.

The browser enforces that nothing else runs and nothing leaves: the content security policy names
program and style by their hashes. Text of a model is data, and never becomes markup.
"""

import base64
import hashlib
import json
import re
from dataclasses import asdict
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from heedful import __version__
from heedful.errors import ConfigError, ModelFolderError, near_miss, printable
from heedful.explain.page_weights import pack_weights
from heedful.model.config import ModelConfig
from heedful.storage.checksums import refuse_mixed
from heedful.storage.folder import ModelFolder
from heedful.storage.outputs import not_ours, real_output
from heedful.storage.provenance import Provenance
from heedful.text.tokenizer import Vocabulary
from heedful.translation.files import write_lines

_BEGINNING = '<!doctype html>\n<html lang="en" data-made-by="heedful">\n'
_MAIN = "main.js"
_TAG = re.compile(r">>([A-Za-z0-9_-]+)<<")
_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)


def write_page(path: Path, folder: ModelFolder, text: str = "", to_language: str = "") -> Path:
    """Write the page of a model, which begins with a text; refuse to replace what is not ours."""
    real = real_output(path, [folder.path])  # refused before the work, not after
    if real.is_file() and not _is_page(real):
        raise not_ours(path)
    write_lines(path, [page(folder, text, to_language)], [folder.path])
    return path


def _is_page(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_BEGINNING)) == _BEGINNING.encode()
    except OSError:
        return False


def page(folder: ModelFolder, text: str = "", to_language: str = "") -> str:
    """Return the page of a model as HTML."""
    data, weights = page_data(folder, text, to_language)
    program, style = joined_program(), page_style()
    return f"""{_BEGINNING}<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{content_policy(program, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>heedful</title>
<style>{style}</style>
</head>
<body>
<noscript>This page translates by JavaScript, which is switched off here.</noscript>
<script type="application/json" id="data">{_harmless(data)}</script>
<script type="application/octet-stream" id="weights">{base64.b64encode(weights).decode()}</script>
<script type="module" id="program">{program}</script>
</body>
</html>"""


def page_data(
    folder: ModelFolder, text: str = "", to_language: str = ""
) -> tuple[dict[str, object], bytes]:
    """Return what the page knows of its model (`PageData` in translator.js), and the weights."""
    config, tokenizer, provenance = folder.config(), folder.tokenizer(), folder.provenance()
    if tokenizer.vocab_size != config.vocab_size:
        raise ModelFolderError(
            f"{folder.path}: the vocabulary has {tokenizer.vocab_size} pieces and the model "
            f"{config.vocab_size}; the files come from different models"
        )
    refuse_mixed(folder, engine="pytorch")
    places, weights = pack_weights(folder, config)
    vocabulary = tokenizer.vocabulary()
    head = folder.alignment_head(config)
    data: dict[str, object] = {
        "name": printable(folder.path.resolve().name),
        "version": __version__,
        "text": text,
        "texts": _texts(),
        "config": _sizes(config),
        "vocabulary": vocabulary._asdict(),
        "places": [place._asdict() for place in places],
        "search": {"beamSize": provenance.search.beam_size, "alpha": provenance.search.alpha},
        "alignment": {"layer": head.layer, "head": head.head, "shift": head.shift},
        "languages": {
            "from": provenance.data.from_language,
            "to": provenance.data.to_language,
        },
        "targets": _targets(vocabulary),
        "target": _target(vocabulary, to_language),
        "facts": _facts(provenance),
    }
    return data, weights


def content_policy(program: str, style: str) -> str:
    """Let run and look what is in the page, as it is now, and nothing load or leave."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(program)}'",
            "worker-src blob:",  # the same program, in which the page computes
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types heedful",
        ]
    )


def joined_program() -> str:
    """Join the modules into one, each in a function of its own, those it imports before it."""
    joined: dict[str, str] = {}

    def join(name: str) -> None:
        if name in joined:
            return
        source = module_source(name)
        for _, path in _IMPORT.findall(source):
            join(_resolved(path, name))
        joined[name] = _as_function(name, source)

    join(_MAIN)
    return "\n" + "\n".join(joined.values())


def page_style() -> str:
    """Return the style sheet of the page."""
    return _sources().joinpath("page.css").read_text(encoding="utf-8")


def module_source(name: str) -> str:
    """Return a module of the page as it is in the package."""
    return _sources().joinpath(name).read_text(encoding="utf-8")


def _texts() -> dict[str, object]:
    """Return what the page says in other languages, each from a file named after it."""
    found = _sources().joinpath("texts").iterdir()
    return {
        it.name.removesuffix(".json"): json.loads(it.read_text(encoding="utf-8"))
        for it in sorted(found, key=lambda it: it.name)
        if it.name.endswith(".json")
    }


def _sources() -> Traversable:
    return files("heedful.explain").joinpath("page")


def _resolved(path: str, importer: str) -> str:
    """Name a module as seen from the page's folder."""
    parent = "/".join(importer.split("/")[:-1])
    parts: list[str] = []
    for part in f"{parent}/{path}".split("/"):
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _as_function(name: str, source: str) -> str:
    """Write a module as a constant that holds what it exports."""
    exported = ", ".join(name for _, name in _EXPORT.findall(source))
    body = _EXPORT.sub(r"\1", source)
    body = _IMPORT.sub(
        lambda found: f"const {{{found[1]}}} = {_constant(_resolved(found[2], name))};\n", body
    )
    return f"const {_constant(name)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _constant(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _sizes(config: ModelConfig) -> dict[str, object]:
    return {name: value for name, value in asdict(config).items() if name != "dropout"}


def _targets(vocabulary: Vocabulary) -> list[dict[str, object]]:
    """List the languages that a piece of their own asks for, which goes before the source."""
    found = [(_TAG.fullmatch(piece), id) for id, piece in enumerate(vocabulary.pieces)]
    return [
        {"code": tag[1], "ids": [id]} for tag, id in found if tag and vocabulary.kinds[id] == "c"
    ]


def _target(vocabulary: Vocabulary, wish: str) -> str:
    """Refuse a language that the model cannot be told to write."""
    codes = [str(target["code"]) for target in _targets(vocabulary)]
    if wish and codes and wish not in codes:
        raise ConfigError(f"this model does not translate to '{wish}'; {near_miss(wish, codes)}")
    return wish


def _facts(provenance: Provenance) -> dict[str, object]:
    score = next((f"{it.name} {it.value:.1f}" for it in provenance.scores), "")
    return {
        "parameters": provenance.model.parameters,
        "trained": provenance.created,
        "pairs": provenance.data.train_pairs,
        "score": score,
    }


def _harmless(data: object) -> str:
    """Write JSON in which no tag can begin or end."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
