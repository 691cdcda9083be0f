"""What label smoothing does to loss, perplexity, sureness and BLEU (section 5.4)."""

from dataclasses import replace
from typing import Any

import torch

from heedful.data.batches import ordered_batches
from heedful.data.prepare import PreparedCorpus
from heedful.evaluation import bleu
from heedful.model.sequence_to_sequence import SequenceToSequence
from heedful.model.transformer import Transformer
from heedful.paper.corpus import corpus_of, described, fingerprint
from heedful.paper.laboratory import SCORED, refuse_too_short, train, training_of, translate
from heedful.paper.request import Cells, Request
from heedful.paper.result import Claim, Events, Picture, Result, Table, claim
from heedful.paper.table3 import base_of
from heedful.specials import PAD
from heedful.training.loss import batch_loss
from heedful.training.step import perplexity

RATES = (0.0, 0.1)
DEFAULT_SIZE, DEFAULT_MINUTES = "mini", 6.0


def run(request: Request) -> Events:
    """Train a pair of models that differ in nothing else."""
    size, minutes = request.size or DEFAULT_SIZE, request.minutes or DEFAULT_MINUTES
    refuse_too_short(minutes, len(RATES))
    corpus, cells = corpus_of(request), Cells(request.out)
    each, base, found = minutes / len(RATES), base_of(size), {}
    for rate in RATES:
        yield f"training with label smoothing {rate:g}"
        config = training_of(each, label_smoothing=rate)
        about = {"size": size, "rate": rate, "minutes": each, "corpus": fingerprint(corpus)}

        def measure(config: Any = config) -> dict[str, Any]:
            torch.manual_seed(config.seed)
            network = Transformer(replace(base, vocab_size=corpus.tokenizer.vocab_size))
            train(network, corpus.train, config)
            return looked_at(network, corpus)

        found[rate] = cells.measured("smoothing", about, measure)
    yield Result(
        name=request.name,
        title="Label smoothing",
        tables=(
            Table(
                title="On the validation pairs",
                columns=("ε", "loss", "smoothed loss", "perplexity", "sureness", "BLEU"),
                rows=tuple(
                    (rate, it["loss"], it["smoothed"], it["perplexity"], it["sureness"], it["bleu"])
                    for rate, it in found.items()
                ),
            ),
        ),
        scale=f"{described(request, corpus)}. {each:.2g} minutes for each of two models that "
        "differ in ε alone. Sureness is the mean probability of the likeliest piece.",
        pictures=(
            Picture(
                name="smoothing", caption="How sure each model is of its likeliest piece",
                draw=lambda: _draw(found),
            ),
        ),
        claims=_claims(*(found[rate] for rate in RATES)),
    )  # fmt: skip


def _claims(plain: dict[str, Any], smoothed: dict[str, Any]) -> tuple[Claim, ...]:
    return (
        claim(
            "Label smoothing hurts perplexity, as the model learns to be more unsure",
            "section 5.4",
            holds=smoothed["perplexity"] > plain["perplexity"]
            and smoothed["sureness"] < plain["sureness"],
            printed="4.92 with, 4.67 without (table 3)",
            measured=f"perplexity {smoothed['perplexity']:.2f} with, "
            f"{plain['perplexity']:.2f} without; sureness {smoothed['sureness']:.2f} and "
            f"{plain['sureness']:.2f}",
        ),
        claim(
            "It improves BLEU",
            "section 5.4",
            holds=smoothed["bleu"] > plain["bleu"],
            printed="25.8 with, 25.3 without (table 3)",
            measured=f"{smoothed['bleu']:.1f} with, {plain['bleu']:.1f} without",
            why="One pair of models; table3 with --seeds says how sure such a difference is.",
        ),
    )


@torch.no_grad()
def looked_at(network: SequenceToSequence, corpus: PreparedCorpus) -> dict[str, Any]:
    """Return losses, sureness and BLEU on the validation pairs."""
    network.eval()
    smoothed = plain = 0.0
    surest: list[float] = []
    pieces = 0
    for batch in ordered_batches(corpus.valid, batch_tokens=2_048):
        loss, surprise = batch_loss(network, batch, smoothing=0.1)
        smoothed, plain = smoothed + loss.item(), plain + surprise.item()
        pieces += batch.num_wanted
        x, _ = network.decode(batch.given, network.encode(batch.source))
        chances = network.logits(x[batch.wanted != PAD]).softmax(-1).amax(-1)
        surest += chances.tolist()
    sources, references = zip(*corpus.valid_pairs()[:SCORED], strict=True)
    found = translate(network, corpus, list(sources))
    histogram = torch.histc(torch.tensor(surest), bins=20, min=0, max=1) / len(surest)
    return {
        "loss": plain / pieces,
        "smoothed": smoothed / pieces,
        "perplexity": perplexity(plain / pieces),
        "sureness": sum(surest) / len(surest),
        "histogram": histogram.tolist(),
        "bleu": bleu(found, references).value,
    }


def _draw(found: dict[float, dict[str, Any]]) -> Any:
    from heedful.paper import style

    figure, (axes,) = style.panels(height=2.8)
    places = [(it + 0.5) / 20 for it in range(20)]
    for rate, it in found.items():
        axes.step(places, it["histogram"], where="mid", label=f"ε = {rate:g}")
    axes.set_xlabel("probability of the likeliest piece")
    axes.set_ylabel("share of positions")
    axes.legend()
    return figure
