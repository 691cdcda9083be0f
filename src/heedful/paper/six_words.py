"""The vocabulary of six words: targets, what an untrained model says, and what a trained one."""

from collections.abc import Sequence
from itertools import repeat
from typing import Any

import torch
from torch import Tensor

from heedful.decoding.hypothesis import Hypothesis, SearchConfig
from heedful.decoding.search import beam_search, greedy_search
from heedful.model.batch import Batch, make_batch
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.paper.request import Request
from heedful.paper.result import Claim, Events, Picture, Result, Table, claim
from heedful.specials import BOS, EOS
from heedful.training.config import TrainingConfig
from heedful.training.trainer import Trainer

VOCABULARY = ("a", "am", "i", "thanks", "student", "<eos>")
OTHERS = ("love", "you", "very", "much", "je", "suis", "étudiant", "merci", "t'aime", "beaucoup")
IDS = {
    word: EOS if word == "<eos>" else 4 + number
    for number, word in enumerate((*VOCABULARY[:5], *OTHERS))
} | {"<eos>": EOS}
SPELT = {id: word for word, id in IDS.items()}
PAIRS = (
    ("je suis étudiant", "i am a student"),
    ("merci", "thanks"),
    ("je t'aime beaucoup", "i love you very much"),
)
STEPS = 120
CLOSE = 0.02  # of each wanted probability


def run(request: Request) -> Events:
    """Train on three sentences until what is said is what is wanted."""
    source, target = PAIRS[0]
    model = untrained()
    before = distributions(model, source, target)
    yield f"training on {len(PAIRS)} sentences for {STEPS} steps"
    train(model)
    after, wanted = distributions(model, source, target), one_hot(target)
    worst = (after - wanted).abs().max().item()
    greedy, beam = search(model, source, beam_size=1), search(model, source, beam_size=2)
    steps = time_steps(model, *PAIRS[2])
    yield Result(
        name=request.name,
        title="The vocabulary of six words",
        tables=(
            _distribution_table("Wanted: one-hot", target, wanted),
            _distribution_table("Said before training", target, before),
            _distribution_table(f"Said after {STEPS} steps", target, after),
            _search_table(source, greedy, beam),
            Table(
                title='"I love you very much": after "i", four time steps write the rest',
                columns=("time step", "given so far", "written", "probability"),
                rows=tuple(steps),
            ),
        ),
        scale=f"A Transformer of {model.num_parameters:,} parameters that knows three sentences by "
        "heart. It shows what training and search do, and nothing about quality.",
        pictures=(
            Picture(
                name="six-words",
                caption="What the model says at each position, before and after training",
                draw=lambda: _draw(target, before, after, wanted),
            ),
        ),
        claims=_claims(worst, greedy[0], beam[0], steps),
    )


def _claims(
    worst: float, greedy: Hypothesis, best: Hypothesis, steps: list[tuple[int, str, str, float]]
) -> tuple[Claim, ...]:
    return (
        claim(
            "Trained long enough, the distributions of the model are the wanted ones",
            "explanations of the six-word vocabulary",
            holds=worst < CLOSE,
            printed="one-hot",
            measured=f"at most {worst:.3f} away",
        ),
        claim(
            "Greedy search and a beam of 2 find the sentence",
            "explanations of the six-word vocabulary",
            holds=_text(greedy) == _text(best) == PAIRS[0][1],
            printed=PAIRS[0][1],
            measured=f"{_text(greedy)}; {_text(best)}",
        ),
        claim(
            '"I love you very much" takes four time steps after its first word',
            "explanations of decoding",
            holds=[step[2] for step in steps] == PAIRS[2][1].split()[1:],
            printed="love, you, very, much",
            measured=", ".join(step[2] for step in steps),
        ),
    )


def untrained() -> Transformer:
    """Return a small model with its first weights."""
    torch.manual_seed(2017)
    return Transformer(
        ModelConfig(
            vocab_size=4 + len(IDS), num_layers=2, d_model=32, d_ff=64, num_heads=2, dropout=0.0
        )
    )


def train(model: Transformer) -> None:
    """Learn the three sentences by heart."""
    config = TrainingConfig(
        steps=STEPS, batch_tokens=64, warmup_steps=20, peak_rate=5e-3, label_smoothing=0.0
    )
    for _ in Trainer(model, config).steps(repeat(_batch())):
        pass


@torch.no_grad()
def distributions(model: Transformer, source: str, target: str) -> Tensor:
    """Return how likely each word of the vocabulary is at each position of the target."""
    model.eval()
    batch = make_batch([(_ids(source), _ids(target))])
    spoken: Tensor = model(batch.source, batch.given).softmax(-1)[0]
    return spoken[:, [IDS[word] for word in VOCABULARY]]


def one_hot(target: str) -> Tensor:
    """Return a row for each word: 1 for itself, 0 for the others."""
    words = [*target.split(), "<eos>"]
    return torch.tensor([[float(word == other) for other in VOCABULARY] for word in words])


@torch.inference_mode()
def search(model: Transformer, source: str, beam_size: int) -> list[Hypothesis]:
    """Find translations by the search of the house, best first."""
    model.eval()
    state = model.encode(torch.tensor([[*_ids(source), EOS]]))
    config = SearchConfig(beam_size=beam_size, n_best=beam_size)

    def step(last: Tensor, state: Any) -> tuple[Tensor, Any]:
        x, state = model.decode(last[:, None], state)
        return model.logits(x[:, 0]).log_softmax(-1), state

    if beam_size == 1:
        return greedy_search(step, state, [10])
    return beam_search(step, state, [10], config)[0]


@torch.no_grad()
def time_steps(model: Transformer, source: str, target: str) -> list[tuple[int, str, str, float]]:
    """Give the first word, and write one word in each step after it."""
    model.eval()
    written, steps = _ids(target)[:1], []
    for number in range(1, len(target.split())):
        state = model.encode(torch.tensor([[*_ids(source), EOS]]))
        x, _ = model.decode(torch.tensor([[BOS, *written]]), state)
        chance, piece = model.logits(x[0, -1]).softmax(-1).max(-1)
        given = " ".join(SPELT[id] for id in written)
        written.append(int(piece))
        steps.append((number, given, SPELT.get(int(piece), "?"), chance.item()))
    return steps


def _batch() -> Batch:
    return make_batch([(_ids(source), _ids(target)) for source, target in PAIRS])


def _ids(text: str) -> list[int]:
    return [IDS[word] for word in text.split()]


def _text(hypothesis: Hypothesis) -> str:
    return " ".join(SPELT.get(id, "?") for id in hypothesis.pieces)


def _distribution_table(title: str, target: str, rows: Tensor) -> Table:
    words = [*target.split(), "<eos>"]
    return Table(
        title=title,
        columns=("position", *VOCABULARY),
        rows=tuple(
            (f"{number} ({word})", *(round(chance, 3) for chance in row))
            for number, (word, row) in enumerate(zip(words, rows.tolist(), strict=True), start=1)
        ),
    )


def _search_table(source: str, greedy: Sequence[Hypothesis], beam: Sequence[Hypothesis]) -> Table:
    found = [("greedy", greedy[0]), *(("beam_size 2", it) for it in beam)]
    return Table(
        title=f'Search for "{source}"',
        columns=("search", "translation", "log-probability", "score, α = 0.6"),
        rows=tuple((how, _text(it), it.log_probability, it.score(0.6)) for how, it in found),
    )


def _draw(target: str, *rows: Tensor) -> Any:
    from heedful.paper import style

    words = [*target.split(), "<eos>"]
    figure, axes = style.panels(1, 3, height=2.6)
    titles = ("untrained", f"after {STEPS} steps", "wanted")
    for panel, title, chances in zip(axes, titles, rows, strict=True):
        panel.imshow(chances.numpy(), cmap=style.WEIGHTS, vmin=0, vmax=1, aspect="auto")
        panel.set_title(title)
        panel.set_xticks(range(6), VOCABULARY, rotation=60, ha="right")
        panel.set_yticks(range(len(words)), words if panel is axes[0] else [""] * len(words))
    return figure
