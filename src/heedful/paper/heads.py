"""Figures 3 to 5: heads of the encoder that look far, at what a pronoun means, at structure."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.errors import ConfigError
from heedful.explain.record import record_attention
from heedful.model.transformer import Transformer
from heedful.paper.request import Request
from heedful.paper.result import FAILS, HOLDS, UNTESTED, Claim, Events, Picture, Result, Table
from heedful.specials import EOS
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder
from heedful.text.normalise import refuse_halves
from heedful.text.tokenizer import Tokenizer
from heedful.text.word_pieces import between_words, word_pieces

MAKING = (
    "It is in this spirit that a majority of American governments have passed new laws since 2009 "
    "making the registration or voting process more difficult."
)
LAW = (
    "The Law will never be perfect, but its application should be just - this is what we are "
    "missing, in my opinion."
)
ANIMAL = "The animal didn't cross the street because it was too tired."
FAR = 4  # words; what is nearer is seen by many a head
_SHOWN = 2  # heads in the picture of figures 4 and 5, as printed
_DECIDED = 0.3  # of the attention, for a head to be called one of its kind


@dataclass(frozen=True)
class Looks:
    """Where all heads of the encoder look, between the words of a sentence."""

    words: list[str]
    weights: NDArray[np.float64]
    """[layer, head, from word, to word]; what falls on the end of sentence is left out."""


@dataclass(frozen=True)
class Ranked:
    """A head, and how much it is of the kind that is looked for."""

    layer: int
    head: int
    score: float

    def __str__(self) -> str:
        return f"layer {self.layer + 1}, head {self.head + 1}"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What a figure shows."""

    title: str
    kind: str
    sentences: tuple[tuple[str, str, str], ...]
    """A sentence, the word that looks, and the word that it is printed to look at."""
    claim: str
    source: str


KINDS = {
    "figure3": Kind(
        title="Figure 3: heads that look far",
        kind="long-distance head",
        sentences=((MAKING, "making", "more difficult"),),
        claim="Heads follow long-distance dependencies: 'making ... more difficult'",
        source="figure 3",
    ),
    "figure4": Kind(
        title="Figure 4: heads that look at what a pronoun means",
        kind="pronoun head",
        sentences=((LAW, "its", "Law"), (ANIMAL, "it", "animal")),
        claim="Heads resolve pronouns: 'its' looks at 'Law', 'it' at 'animal'",
        source="figure 4, explanations",
    ),
    "figure5": Kind(
        title="Figure 5: heads that follow the structure of a sentence",
        kind="structure head",
        sentences=((LAW, "", ""),),
        claim="Heads look as the structure of the sentence suggests, each in its own way",
        source="figure 5",
    ),
}


def run(request: Request) -> Events:
    """Rank the heads of a model, and draw those that come first."""
    if request.model is None:
        raise ConfigError(f"{request.name} needs --model; name a model folder")
    folder, kind = ModelFolder(request.model), KINDS[request.name]
    model, tokenizer = load_model(folder), folder.tokenizer()
    sentences = ((request.text, "", ""),) if request.text else kind.sentences
    found = []
    for text, looker, target in sentences:
        looks = looks_of(model, tokenizer, text)
        found.append((looks, looker, target, ranked(request.name, looks, looker, target)))
    yield Result(
        name=request.name,
        title=kind.title,
        tables=tuple(
            _table(kind, looks, looker, target, heads) for looks, looker, target, heads in found
        ),
        scale=f"All {model.config.num_layers * model.config.num_heads} heads of the encoder of "
        f"{request.model}. The paper shows layer 5 of 6 of a model of 65 million parameters or "
        "more that learned from 4.5 million pairs.",
        pictures=tuple(
            _picture(request.name, number, kind, looks, looker, heads)
            for number, (looks, looker, _, heads) in enumerate(found, start=1)
        ),
        claims=tuple(_claim(kind, heads, target) for _, _, target, heads in found),
    )


@torch.no_grad()
def looks_of(model: Transformer, tokenizer: Tokenizer, text: str) -> Looks:
    """Let the encoder read a text, and gather attention from pieces to words."""
    refuse_halves(text)
    ids = tokenizer.encode(text)
    model.eval()
    with record_attention(model) as maps:
        model.encode(torch.tensor([[*ids, EOS]]))
    layers = [weights[0] for name, (weights,) in maps.items() if name.startswith("encoder.")]
    pieces = torch.stack(layers)[..., : len(ids), : len(ids)].double().numpy()
    words = word_pieces(tokenizer.spell(ids))
    if len(words.words) < 2:
        raise ConfigError(f"'{text:.40}': fewer than two words; give a sentence")
    summed = np.array(between_words(np.moveaxis(pieces, (-2, -1), (0, 1)), words, words))
    sizes = np.array([len(word) for word in words.pieces])
    return Looks(words.words, np.moveaxis(summed, (2, 3), (0, 1)) / sizes[:, None])


def ranked(figure: str, looks: Looks, looker: str = "", target: str = "") -> list[Ranked]:
    """Rank all heads by how much they are of a kind, the best first."""
    score = {"figure3": far, "figure4": at_target, "figure5": structured}[figure]
    scores = score(looks, looker, target)
    heads = [
        Ranked(layer, head, float(scores[layer, head])) for layer, head in np.ndindex(scores.shape)
    ]
    return sorted(heads, key=lambda it: -it.score)


def far(looks: Looks, looker: str, target: str) -> NDArray[np.float64]:
    """Return how much each head looks from a word at words far away that it is printed to see.

    Where none is printed, it is the most that any far word gets from any other.
    """
    places = np.arange(len(looks.words))
    is_far = np.abs(places[:, None] - places) > FAR
    seen = np.where(is_far, looks.weights, 0.0)
    if looker not in looks.words:
        most: NDArray[np.float64] = seen.max(axis=(-2, -1))
        return most
    columns = [place for place, word in enumerate(looks.words) if word in target.split()]
    found: NDArray[np.float64] = seen[..., looks.words.index(looker), columns].sum(axis=-1)
    return found


def at_target(looks: Looks, looker: str, target: str) -> NDArray[np.float64]:
    """Return how much each head looks from a pronoun at what it means."""
    pronouns = [looker] if looker else ["it", "its", "he", "she", "they", "his", "her", "their"]
    rows = [place for place, word in enumerate(looks.words) if word.lower() in pronouns]
    if not rows:
        raise ConfigError("no pronoun is in the sentence; give one with it, its, he, she or they")
    row = rows[0]
    if target in looks.words:
        found: NDArray[np.float64] = looks.weights[..., row, looks.words.index(target)]
        return found
    earlier: NDArray[np.float64] = looks.weights[..., row, :row].max(axis=-1, initial=0)
    return earlier


def structured(looks: Looks, looker: str, target: str) -> NDArray[np.float64]:
    """Return how decidedly each word looks at one other, where that is no fixed step away."""
    others = looks.weights * (1 - np.eye(len(looks.words)))
    decided = others.max(axis=-1).mean(axis=-1)
    steps = others.argmax(axis=-1) - np.arange(len(looks.words))
    usual = np.array(
        [[np.unique(head, return_counts=True)[1].max() for head in layer] for layer in steps]
    )
    result: NDArray[np.float64] = decided * (1 - usual / len(looks.words))
    return result


def _claim(kind: Kind, heads: list[Ranked], target: str) -> Claim:
    best, is_structure = heads[0], kind.kind == "structure head"
    is_there = best.score >= _DECIDED
    why = (
        f"This model has no {kind.kind}: the best reaches less than {_DECIDED:g}. Small models "
        "that learned from few sentences seldom have one."
    )
    if is_there:
        why = (
            "What is structure is for the eye to say: no gold tree is compared."
            if is_structure
            else f"One head of {len(heads)} does; that says where it looks, not why."
        )
    found = UNTESTED if is_structure else HOLDS
    return Claim(
        text=kind.claim,
        source=kind.source,
        printed="heads of layer 5 of 6",
        measured=f"{best}: {best.score:.2f}" + (f" on '{target}'" if target else ""),
        verdict=found if is_there else FAILS,
        why=why,
    )


def _table(kind: Kind, looks: Looks, looker: str, target: str, heads: list[Ranked]) -> Table:
    def most(it: Ranked) -> str:
        weights = looks.weights[it.layer, it.head]
        row = looks.words.index(looker) if looker in looks.words else None
        chosen = weights[row] if row is not None else weights.mean(axis=0)
        places = np.argsort(-chosen)[:3].tolist()
        return ", ".join(f"{looks.words[place]} {chosen[place]:.2f}" for place in places)

    about = f" from '{looker}'" if looker else ""
    about += f" to '{target}'" if target else ""
    return Table(
        title=f"The five heads that come first{about}",
        columns=("head", kind.kind, "looks most at"),
        rows=tuple((str(it), round(it.score, 3), most(it)) for it in heads[:5]),
    )


def _picture(
    name: str, number: int, kind: Kind, looks: Looks, looker: str, heads: list[Ranked]
) -> Picture:
    ending = "" if number == 1 else f"-{number}"
    shown = heads[:_SHOWN] if name != "figure3" else heads[:6]

    def draw() -> Any:
        return _draw(looks, looker, shown)

    return Picture(name=name + ending, caption=f"{kind.title}, in this model", draw=draw)


def _draw(looks: Looks, looker: str, heads: list[Ranked]) -> Any:
    """Draw the words twice, below and above, with lines between: the more, the darker."""
    from heedful.paper import style

    figure, (axes,) = style.panels(width=9.6, height=4.2)
    style.bare(axes)
    words = looks.words
    for place, word in enumerate(words):
        for y, align in (0.0, "top"), (1.0, "bottom"):
            strong = "bold" if word == looker and y == 1.0 else "normal"
            axes.text(
                place, y, word, rotation=90, ha="center", va=align, fontsize=8, fontweight=strong
            )
    for number, it in enumerate(heads):
        colour = style.COLOURS[number % len(style.COLOURS)]
        axes.plot([], [], color=colour, linewidth=3, label=f"{it} ({it.score:.2f})")
        rows = [words.index(looker)] if looker in words else range(len(words))
        for row in rows:
            for column, weight in enumerate(looks.weights[it.layer, it.head, row].tolist()):
                if weight > 0.03:
                    axes.plot(
                        [row, column], [0.98, 0.02], color=colour, alpha=min(weight, 1.0),
                        linewidth=1 + 2 * weight,
                    )  # fmt: skip
    axes.set_xlim(-1, len(words))
    axes.set_ylim(-0.6, 1.6)
    axes.legend(loc="upper center", ncols=3, bbox_to_anchor=(0.5, -0.02), fontsize=8)
    return figure
