"""All that a translator does with one sentence, as arrays and lists."""

import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from heedful.decoding.hypothesis import Hypothesis, SearchConfig, length_limit
from heedful.errors import ConfigError, ModelFolderError, refuse_other_type
from heedful.explain.figure import map_picture
from heedful.explain.network import Array, Network, NetworkState
from heedful.explain.page import page, write_page
from heedful.explain.page_weights import read_weights
from heedful.explain.roles import Head, Kind, heads_of
from heedful.explain.tree import Tree, search_tree
from heedful.specials import BOS, EOS
from heedful.storage.alignment_head import AlignmentHead
from heedful.storage.folder import ModelFolder
from heedful.storage.languages import Direction
from heedful.text.normalise import refuse_halves, refuse_no_text
from heedful.text.sentences import LONGEST, cut_text
from heedful.text.tokenizer import Tokenizer
from heedful.text.word_pieces import best_links, word_pieces
from heedful.translation.direction import DirectedEngine
from heedful.translation.files import write_lines
from heedful.translation.routes import find_route
from heedful.translation.translator import Translator

_NUM_LIKELY = 10
_LARGEST_FRAME = 8_000_000  # bytes of weights in a cell of a notebook; more is pictured instead
_KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


class Likely(NamedTuple):
    """A piece that could come next."""

    id: int
    piece: str
    log_probability: float


class Word(NamedTuple):
    """A word of the translation."""

    text: str
    confidence: float
    """Its probability, given the words before it."""
    source: str
    """The source word that it looked at most, in the attention that aligns words."""


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """What a model did with a sentence. Rows are who looks, columns are at whom.

    `encoder`, `decoder` and `cross` are weights by [layer, head, who looks, at whom]; `q`, `k` and
    `v` have by kind what they were made of: [layer, head, position, number].
    """

    source: str
    text: str
    to_language: str = field(repr=False)
    """As it was told to the model, or "" if that has one alone."""
    score: float
    """Log-probability over the length penalty."""
    source_ids: tuple[int, ...]
    source_pieces: tuple[str, ...]
    """The source as the encoder reads it, EOS at the end."""
    target_ids: tuple[int, ...]
    target_pieces: tuple[str, ...]
    """The target as the decoder reads it, BOS at the beginning."""
    encoder: Array = field(repr=False)
    decoder: Array = field(repr=False)
    cross: Array = field(repr=False)
    q: dict[Kind, Array] = field(repr=False)
    k: dict[Kind, Array] = field(repr=False)
    v: dict[Kind, Array] = field(repr=False)
    steps: tuple[tuple[Likely, ...], ...] = field(repr=False)
    """The likeliest pieces at each place of the translation, EOS's included."""
    words: tuple[Word, ...] = field(repr=False)
    heads: tuple[Head, ...] = field(repr=False)
    beam: Tree = field(repr=False)
    search: SearchConfig = field(repr=False)
    """How the beam was searched."""
    alignment: AlignmentHead = field(repr=False)
    folder: ModelFolder | None = field(repr=False)
    tokenizer: Tokenizer = field(repr=False)

    def picture(
        self, kind: Kind = "cross", layer: int | None = None, head: int | None = None
    ) -> str:
        """Draw where a head looks, as SVG: by default the attention that aligns words."""
        is_usual = kind == "cross" and layer is None and head is None
        layer = self.alignment.layer if layer is None else layer
        head = self.alignment.head if is_usual else head
        weights = getattr(self, kind)
        if not 0 <= layer < weights.shape[0] or not 0 <= (head or 0) < weights.shape[1]:
            layers, heads = weights.shape[:2]
            raise ConfigError(
                f"there is no head {head} in layer {layer} of {layers} layers with {heads} heads, "
                "counted from 0"
            )
        shown = weights[layer].mean(axis=0) if head is None else weights[layer, head]
        named = "mean of all heads" if head is None else f"head {head + 1}"
        rows = self.source_pieces if kind == "encoder" else self.target_pieces
        columns = self.target_pieces if kind == "decoder" else self.source_pieces
        return map_picture(shown, rows, columns, f"{kind}, layer {layer + 1}, {named}")

    def save(self, path: str | Path) -> Path:
        """Write the page of the model (.html), the map that aligns words (.svg), or all (.json)."""
        refuse_other_type("path", path, str, Path)
        path = Path(path)
        if path.suffix == ".html":
            return write_page(path, self._known_folder(), self.source, self.to_language)
        if path.suffix == ".svg":
            write_lines(path, [self.picture()])
        elif path.suffix == ".json":
            write_lines(path, [json.dumps(self.as_json(), ensure_ascii=False)])
        else:
            raise ConfigError(f"{path}: an explanation is saved as .html, .svg or .json")
        return path

    def as_json(self) -> dict[str, Any]:
        """Return all of it but q, k and v, as lists and numbers."""
        spelt = self.tokenizer.pieces
        return {
            "source": self.source,
            "text": self.text,
            "score": self.score,
            "source_ids": self.source_ids,
            "source_pieces": self.source_pieces,
            "target_ids": self.target_ids,
            "target_pieces": self.target_pieces,
            "words": [word._asdict() for word in self.words],
            "steps": [[likely._asdict() for likely in step] for step in self.steps],
            "heads": [head._asdict() for head in self.heads],
            "beam": [
                [{**node._asdict(), "pieces": spelt(node.pieces)} for node in step]
                for step in self.beam.steps
            ],
            **{kind: np.round(getattr(self, kind), 6).tolist() for kind in _KINDS},
        }

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own; of a model too large for that, the picture."""
        folder = self.folder
        if folder and folder.weights_file.stat().st_size <= 4 * _LARGEST_FRAME:
            shown, height = page(folder, self.source, self.to_language), 900
        else:
            shown = f"<!doctype html><title>heedful</title>{self.picture()}"
            height = 60 + 20 * (len(self.target_pieces) + 8)
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{escape(shown)}" '
            f'style="width:100%;height:{height}px;border:0" title="heedful"></iframe>'
        )

    def _known_folder(self) -> ModelFolder:
        if self.folder is None:
            raise ModelFolderError(
                "this translator was not loaded from a folder, which a page is made from; "
                "load it with heedful.load"
            )
        return self.folder


def explain(
    translator: Translator, text: str, *, translation: str | None = None, to_language: str = ""
) -> Explanation:
    """Look at how a translator reads and writes one sentence; no torch is needed for it.

    The translation is the one that it finds itself, or one that is given. A model that writes
    several languages is told which by a tag, the first of the source's pieces.
    """
    refuse_other_type("translator", translator, Translator)
    refuse_no_text(text)
    if translation is not None:
        refuse_no_text(translation)
        refuse_halves(translation)
    refuse_halves(text)
    if len(cut_text(text, min(LONGEST, translator.engine.most_pieces - 2))) != 1:
        raise ConfigError("explain takes one sentence, and this is none or several; give it one")
    way, *further = find_route(translator.languages, "", to_language)
    assert not further  # from an open language there is always a direct way
    translator, tags = _told(translator, way)
    network, head = _opened(translator)
    tokenizer, search = translator.tokenizer, translator.search
    source = [*tags, *tokenizer.encode(text)]
    beam = _searched(network, source, replace(search, n_best=search.beam_size))
    target = list(beam.best[0].pieces) if translation is None else tokenizer.encode(translation)
    target = target[: _most_pieces(network) - 1]  # BOS comes before it
    return _explained(translator, network, head, text, (source, target), beam)


def _told(translator: Translator, way: Direction) -> tuple[Translator, list[int]]:
    """Take from an engine the tag that it would put before every source."""
    engine = translator.towards(way).engine
    if not isinstance(engine, DirectedEngine):
        return translator, []
    bare = Translator(translator.tokenizer, engine.engine, translator.search)
    return bare, [engine.tag]


def _opened(translator: Translator) -> tuple[Network, AlignmentHead]:
    """Take the model from memory, if it is there, or else from its folder."""
    engine: Any = translator.engine
    folder: ModelFolder | None = getattr(engine, "folder", None)
    if model := getattr(engine, "model", None):
        weights = {name: it.detach().cpu().numpy() for name, it in model.state_dict().items()}
        return Network(model.config, weights), engine.alignment_head
    if folder is None:
        raise ModelFolderError("this translator has no model to look into; use heedful.load")
    config = folder.config()
    return Network(config, read_weights(folder, config)), folder.alignment_head(config)


def _searched(network: Network, source: Sequence[int], search: SearchConfig) -> Tree:
    def step(last: Sequence[int], state: NetworkState) -> tuple[Array, NetworkState]:
        x, state = network.decode([[id] for id in last], state)
        return network.log_probabilities(x[:, 0]), state

    start = network.encode([*source, EOS]).select([0])
    return search_tree(step, start, min(length_limit(len(source)), _most_pieces(network)), search)


def _most_pieces(network: Network) -> int:
    config = network.config
    return config.max_length if config.positions == "learned" else sys.maxsize


def _explained(
    translator: Translator,
    network: Network,
    head: AlignmentHead,
    text: str,
    ids: tuple[list[int], list[int]],
    beam: Tree,
) -> Explanation:
    """Read source and target once more, at once, and keep what is computed on the way."""
    tokenizer, search = translator.tokenizer, translator.search
    source, target = ids
    kept: dict[str, Array] = {}
    state = network.encode([*source, EOS], kept.__setitem__)
    x, _ = network.decode([[BOS, *target]], state, kept.__setitem__)
    likely = network.log_probabilities(x[0])
    weights, q, k, v = (
        {kind: _of_layers(kept, kind, part) for kind in _KINDS}
        for part in ("weights", "query", "key", "value")
    )
    num_tags = sum(id in tokenizer.tags.values() for id in source)
    aligned = _aligned(weights["cross"], head, (num_tags, len(source)), len(target))
    partners = aligned.argmax(axis=1) if aligned.size else []
    belongs = {row + head.shift: num_tags + int(at) for row, at in enumerate(partners)}
    sure = likely[np.arange(len(target) + 1), [*target, EOS]]
    given = Hypothesis(tuple(target), float(sure.sum()))
    found = next((it for it in beam.best if it.pieces == given.pieces), given)
    return Explanation(
        source=text,
        text=tokenizer.decode(target),
        to_language=next((it for it, id in tokenizer.tags.items() if id in source[:1]), ""),
        score=found.score(search.alpha),
        source_ids=(*source, EOS),
        source_pieces=tuple(shown_pieces(tokenizer, [*source, EOS])),
        target_ids=(BOS, *target),
        target_pieces=tuple(shown_pieces(tokenizer, [BOS, *target])),
        **weights,
        q=q,
        k=k,
        v=v,
        steps=tuple(_likeliest(tokenizer, row) for row in likely),
        words=tuple(_words(tokenizer, source[num_tags:], target, sure, aligned)),
        heads=tuple(it for kind in _KINDS for it in heads_of(kind, weights[kind], belongs)),
        beam=beam,
        search=search,
        alignment=head,
        folder=getattr(translator.engine, "folder", None),
        tokenizer=tokenizer,
    )


def _aligned(cross: Array, head: AlignmentHead, columns: tuple[int, int], num_target: int) -> Array:
    """Return where the attention that aligns words looked for each piece of the translation."""
    layer = cross[head.layer]
    looks: Array = layer.mean(axis=0) if head.head is None else layer[head.head]
    return looks[head.shift : num_target + head.shift, slice(*columns)]


def _of_layers(kept: dict[str, Array], kind: Kind, part: str) -> Array:
    """Stack one matrix of all layers; there is one row in the batch."""
    num_layers = sum(name.startswith(f"{kind}.") and name.endswith(f".{part}") for name in kept)
    return np.stack([kept[f"{kind}.{layer}.{part}"][0] for layer in range(num_layers)])


def _likeliest(tokenizer: Tokenizer, scores: Array) -> tuple[Likely, ...]:
    ids = np.argsort(-scores, kind="stable")[:_NUM_LIKELY].tolist()
    named = zip(ids, shown_pieces(tokenizer, ids), strict=True)
    return tuple(Likely(id, piece, float(scores[id])) for id, piece in named)


def _words(
    tokenizer: Tokenizer, source: list[int], target: list[int], sure: Array, aligned: Array
) -> Iterator[Word]:
    """Tell of each word of a translation how sure it is, and where it is from."""
    seen, words = (word_pieces(tokenizer.spell(ids)) for ids in (source, target))
    links = best_links(aligned.astype(np.float64), seen, words)
    for word, pieces, link in zip(words.words, words.pieces, links, strict=True):
        confidence = math.exp(sum(float(sure[piece]) for piece in pieces))
        yield Word(word, confidence, seen.words[link] if seen.words else "")


def shown_pieces(tokenizer: Tokenizer, ids: Sequence[int]) -> list[str]:
    """Spell pieces for people: a byte is "<E4>"."""
    return [_BYTE.sub(r"<\1>", piece) for piece in tokenizer.pieces(ids)]


_BYTE = re.compile(r"^<0x([0-9A-F]{2})>$")
