"""Sections 3.1 to 6.1 by hand, on three words with d_k = 2: each number beside its sum."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from heedful.decoding.hypothesis import Hypothesis, SearchConfig, length_penalty
from heedful.decoding.search import beam_search, greedy_search
from heedful.model.attention import MultiHeadAttention, exact_attention
from heedful.model.config import ModelConfig
from heedful.model.transformer import LAYER_NORM_EPSILON
from heedful.paper.request import Request
from heedful.paper.result import Events, Result, Table
from heedful.specials import BOS, EOS
from heedful.training.loss import smoothed_cross_entropy
from heedful.training.schedule import noam_rate
from heedful.training.trainer import ADAM_BETAS, ADAM_EPSILON

WORDS = ("the", "cat", "sat")
QUERY = ((1.0, 0.0), (0.0, 2.0), (1.0, 1.0))
KEY = ((1.0, 1.0), (0.0, 2.0), (2.0, 0.0))
VALUE = ((1.0, 0.0), (0.0, 1.0), (2.0, 2.0))


class Line(NamedTuple):
    """One number: what it is called, how it is computed, what comes out."""

    name: str
    formula: str
    value: float


def run(request: Request) -> Events:
    """Compute every number by the modules of the house, and write its sum beside it."""
    parts = {
        "Scores, scaling, softmax, output (equation 1)": attention(),
        "The same with the future masked (section 3.2.3)": attention(masked=True),
        "Two heads of width 2 (section 3.2.2)": multi_head(),
        "Layer normalisation (section 3.1)": layer_norm(),
        "One step of training (sections 5.3 and 5.4)": training_step(),
        "Two steps of decoding, greedy and with a beam of 2 (section 6.1)": decoding(),
    }
    yield Result(
        name=request.name,
        title="The worked example",
        tables=tuple(
            Table(title=title, columns=("what", "how", "value"), rows=tuple(lines))
            for title, lines in parts.items()
        ),
        scale="Three words, d_k = 2: small enough for paper and pencil. All numbers are exact but "
        "for rounding; each comes from the module that trains and translates.",
    )


def attention(*, masked: bool = False) -> list[Line]:
    """Equation 1 for every word, over all words or over those before it and itself."""
    query, key, value = (torch.tensor(it)[None, None] for it in (QUERY, KEY, VALUE))
    visible = torch.ones(1, 1, 3, 3, dtype=torch.bool)
    visible = visible.tril() if masked else visible
    output, weights = (it[0, 0].tolist() for it in exact_attention(query, key, value, visible))
    lines = []
    for i, word in enumerate(WORDS):
        seen = range(i + 1 if masked else 3)
        scores = [_dot_product(QUERY[i], KEY[j]) for j in seen]
        scaled = [score / math.sqrt(2) for score in scores]
        if not masked:
            lines += [Line(f"{word}·{WORDS[j]}", _dot(QUERY[i], KEY[j]), scores[j]) for j in seen]
            lines += [
                Line(f"{word}·{WORDS[j]} scaled", f"{scores[j]:g} / √(2)", scaled[j]) for j in seen
            ]
        lines += [
            Line(f"weight of {WORDS[j]} for {word}", _softmax(scaled, j), weights[i][j])
            for j in seen
        ]
        lines += [
            Line(
                f"output {word}[{axis + 1}]",
                _dot([weights[i][j] for j in seen], [VALUE[j][axis] for j in seen]),
                output[i][axis],
            )
            for axis in range(2)
        ]
    return lines


X = ((1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 1.0, 0.0), (1.0, 1.0, 0.0, 0.0))
W_O = ((1.0, 0.0, 1.0, 0.0), (0.0, 1.0, 0.0, 1.0), (1.0, 0.0, -1.0, 0.0), (0.0, 1.0, 0.0, -1.0))


def multi_head() -> list[Line]:
    """Head 1 reads the first two numbers of a word, head 2 the last two; W^O mixes them."""
    module = MultiHeadAttention(ModelConfig(vocab_size=1, d_model=4, d_ff=1, num_heads=2))
    heads: list[tuple[Tensor, Tensor]] = []
    concatenated: list[Tensor] = []

    def attend(query: Tensor, key: Tensor, value: Tensor, visible: Tensor) -> Tensor:
        output, weights = exact_attention(query, key, value, visible)
        heads.extend(zip(output[0], weights[0], strict=True))
        concatenated.append(output.transpose(1, 2).flatten(2)[0])
        return output

    with torch.no_grad():
        for part in (module.query, module.key, module.value, module.output):
            part.weight.copy_(torch.eye(4))
            part.bias.zero_()
        module.output.weight.copy_(torch.tensor(W_O))
        module.attend = attend
        x = torch.tensor(X)[None]
        output = module(x, module.offer(x), torch.ones(1, 1, 1, 3, dtype=torch.bool))[0].tolist()
    return list(_heads_of(0, heads, concatenated[0].tolist(), output))


def _heads_of(
    i: int, heads: Sequence[tuple[Tensor, Tensor]], concatenated: Any, output: Any
) -> Iterator[Line]:
    """Write down what becomes of word `i`."""
    for number, (gathered, weights) in enumerate(heads, start=1):
        own = [x[2 * number - 2 : 2 * number] for x in X]
        scaled = [_dot_product(own[i], key) / math.sqrt(2) for key in own]
        for j, word in enumerate(WORDS):
            name = f"head {number}: {WORDS[i]}·{word} scaled"
            yield Line(name, f"({_dot(own[i], own[j])}) / √(2)", scaled[j])
        for j, word in enumerate(WORDS):
            name = f"head {number}: weight of {word} for {WORDS[i]}"
            yield Line(name, _softmax(scaled, j), float(weights[i, j]))
        for axis in range(2):
            formula = _dot(weights[i].tolist(), [it[axis] for it in own])
            yield Line(
                f"head {number}: output {WORDS[i]}[{axis + 1}]", formula, float(gathered[i, axis])
            )
    for axis in range(4):
        name = f"Concat(head 1, head 2) W^O, {WORDS[i]}[{axis + 1}]"
        yield Line(name, _dot(concatenated[i], W_O[axis]), output[i][axis])


NORMED = (1.0, 2.0, 3.0, 6.0)
GAIN, BIAS = (1.0, 1.0, 2.0, 1.0), (0.0, 0.0, 0.0, 0.5)


def layer_norm() -> list[Line]:
    """Take away the mean, divide by the deviation, then gain and bias."""
    norm = nn.LayerNorm(4, eps=LAYER_NORM_EPSILON)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor(GAIN))
        norm.bias.copy_(torch.tensor(BIAS))
        normed = norm(torch.tensor(NORMED)).tolist()
    mean = sum(NORMED) / 4
    variance = sum((x - mean) ** 2 for x in NORMED) / 4
    squares = " + ".join(f"({x:g} - {mean:g})²" for x in NORMED)
    return [
        Line("mean", f"({' + '.join(f'{x:g}' for x in NORMED)}) / 4", mean),
        Line("variance", f"({squares}) / 4", variance),
        *(
            Line(
                f"LayerNorm(x)[{i + 1}]",
                f"{GAIN[i]:g}·({x:g} - {mean:g}) / √({variance:g} + {LAYER_NORM_EPSILON:.6f}) "
                f"+ {BIAS[i]:g}",
                normed[i],
            )
            for i, x in enumerate(NORMED)
        ),
    ]


HIDDEN = (1.0, 2.0)
EMBEDDING = ((1.0, 0.0), (0.0, 0.5), (0.5, 0.5))
WANTED, SMOOTHING = 1, 0.1


def training_step() -> list[Line]:
    """From the decoder's output to a loss, its gradient, and weights that are moved."""
    weight = torch.tensor(EMBEDDING, requires_grad=True)
    hidden, wanted = torch.tensor([HIDDEN]), torch.tensor([WANTED])
    loss, _ = smoothed_cross_entropy(hidden, weight, wanted, SMOOTHING)
    loss.backward()
    rate = noam_rate(1, d_model=2, warmup_steps=4)
    gradient = weight.grad
    assert gradient is not None
    logits = (hidden @ weight.detach().T)[0]
    shares = logits.softmax(0).tolist()
    before = weight.detach().clone()
    adam = torch.optim.Adam([weight], lr=rate, betas=ADAM_BETAS, eps=ADAM_EPSILON)
    adam.step()
    after = weight.detach()
    new_loss, _ = smoothed_cross_entropy(hidden, after, wanted, SMOOTHING)
    return [
        *_loss_lines(logits.tolist(), shares, loss.item()),
        *(
            Line(
                f"gradient of E[{WORDS[row]}][{axis + 1}]",
                f"({shares[row]:.4f} - {_goal(row):.4f})·{HIDDEN[axis]:g}",
                float(gradient[row, axis]),
            )
            for row in range(3)
            for axis in range(2)
        ),
        Line("learning rate of step 1 (equation 3)", "2^(-0.5)·min(1^(-0.5), 1·4^(-1.5))", rate),
        *(
            Line(
                f"E[{WORDS[row]}][1] after Adam",
                f"{before[row, 0]:g} - {rate:.4f}·({gradient[row, 0]:.4f}) / "
                f"√(({gradient[row, 0]:.4f})²)",
                after[row, 0].item(),
            )
            for row in range(3)
        ),
        Line("loss after the step", _loss_formula(after), new_loss.item()),
    ]


def _loss_lines(logits: Sequence[float], shares: Sequence[float], loss: float) -> Iterator[Line]:
    for row, word in enumerate(WORDS):
        yield Line(f"logit of {word}", _dot(HIDDEN, EMBEDDING[row]), logits[row])
    for row, word in enumerate(WORDS):
        yield Line(f"probability of {word}", _softmax(logits, row), shares[row])
    for row, word in enumerate(WORDS):
        formula = f"{0.9 if row == WANTED else 0:g} + 0.1 / 3"
        yield Line(f"wanted probability of {word}", formula, _goal(row))
    terms = " - ".join(f"{_goal(row):.4f}·ln({shares[row]:.4f})" for row in range(3))
    yield Line("loss", f"-{terms}", loss)


def _goal(row: int) -> float:
    return (1 - SMOOTHING) * (row == WANTED) + SMOOTHING / 3


def _loss_formula(weight: Tensor) -> str:
    shares = (torch.tensor(HIDDEN) @ weight.T).softmax(0).tolist()
    return "-" + " - ".join(f"{_goal(row):.4f}·ln({shares[row]:.4f})" for row in range(3))


TARGET = {BOS: "<bos>", EOS: "<eos>", 4: "die", 5: "Katze", 6: "Katzen"}
CHANCES = {BOS: {4: 0.55, 5: 0.1, 6: 0.35}, 4: {5: 0.5, 6: 0.4, EOS: 0.1}, 6: {EOS: 0.9, 5: 0.1}}
"""How likely each word follows another, as a decoder might say; all else is impossible."""


def decoding() -> list[Line]:
    """Two steps, which greedy search and a beam of two spend differently."""
    limits, config = [2], SearchConfig(beam_size=2, alpha=0.6, n_best=2)
    (greedy,) = greedy_search(_next, _Stateless(), limits)
    (beam,) = beam_search(_next, _Stateless(), limits, config)
    first, second = greedy.pieces
    chance, next_chance = CHANCES[BOS][first], CHANCES[first][second]
    return [
        Line(f"greedy, step 1: ln P({TARGET[first]})", f"ln({chance:g})", math.log(chance)),
        Line(
            f"greedy, step 2: ln P({_text(greedy.pieces)})",
            f"ln({chance:g}·{next_chance:g})",
            greedy.log_probability,
        ),
        *(line for place, found in enumerate(beam, start=1) for line in _found(place, found)),
    ]


def _found(place: int, found: Hypothesis) -> Iterator[Line]:
    """Write down how a hypothesis of the beam is ranked."""
    written = (*found.pieces, EOS) if found.is_finished else found.pieces
    chances = [CHANCES[last][piece] for last, piece in pairwise((BOS, *written))]
    formula = f"ln({'·'.join(f'{it:g}' for it in chances)})"
    length, penalty = len(written), length_penalty(len(written), 0.6)
    yield Line(f"beam of 2, place {place}: ln P({_text(written)})", formula, found.log_probability)
    yield Line(f"its length penalty, n = {length}", f"((5 + {length}) / 6)^(0.6)", penalty)
    yield Line("its score", f"{found.log_probability:.4f} / {penalty:.4f}", found.score(0.6))


class _Stateless:
    """A language in which the last word alone decides on the next needs no memory."""

    def select(self, rows: Tensor) -> "_Stateless":
        return self


def _next(last: Tensor, state: Any) -> tuple[Tensor, Any]:
    chances = torch.zeros(len(last), 7)
    for row, word in enumerate(last.tolist()):
        for piece, chance in CHANCES.get(word, {EOS: 1.0}).items():
            chances[row, piece] = chance
    return chances.log(), state


def _text(pieces: Sequence[int]) -> str:
    return " ".join(TARGET[piece] for piece in pieces)


def _dot(left: Sequence[float], right: Sequence[float]) -> str:
    return " + ".join(
        f"{_number(a)}·{f'({_number(b)})' if b < 0 else _number(b)}"
        for a, b in zip(left, right, strict=True)
    )


def _number(value: float) -> str:
    return f"{value:g}" if value == round(value, 2) else f"{value:.4f}"


def _dot_product(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _softmax(scores: Sequence[float], chosen: int) -> str:
    terms = [f"e^({score:.4g})" for score in scores]
    return f"{terms[chosen]} / ({' + '.join(terms)})"
