"""Whether the engines find the same, with and without company, and what rounding to int8 costs."""

from collections.abc import Sequence
from dataclasses import replace

from heedful.decoding.ctranslate2_engine import CTranslate2Engine
from heedful.decoding.engine import Engine
from heedful.decoding.hypothesis import Hypothesis, SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.evaluation import evaluate
from heedful.storage.folder import ModelFolder


def agreement_table(folder: ModelFolder, texts: Sequence[str], references: Sequence[str]) -> str:
    """Lay out how many translations agree piece by piece, and the BLEU of each engine.

    Each sentence is also translated by itself: who shares a batch should not show.
    """
    tokenizer = folder.tokenizer()
    usual = SearchConfig(**vars(folder.provenance().search))
    sources = [tokenizer.encode(text) for text in texts]
    engines: dict[str, Engine] = {
        "PyTorch": PyTorchEngine.load(folder),
        "CTranslate2, float32": CTranslate2Engine(folder, exact=True),
        "CTranslate2, int8": CTranslate2Engine(folder),
    }
    lines = [
        "| beam | engine | pieces as PyTorch | alone as in bulk | to the last bit | BLEU |",
        "|---|---|---|---|---|---|",
    ]
    for beam_size in (1, 4):
        config = replace(usual, beam_size=beam_size)
        found = {name: _best(engine, sources, config) for name, engine in engines.items()}
        for name, together in found.items():
            alone = [_best(engines[name], [source], config)[0] for source in sources]
            written = [tokenizer.decode(best.pieces) for best in together]
            bleu, *_ = evaluate(written, references, tokenize="none")
            same_scores = sum(map(Hypothesis.__eq__, together, alone))
            lines.append(
                f"| {beam_size} | {name} | {_num_same(together, found['PyTorch'])} "
                f"| {_num_same(together, alone)} | {same_scores:,} | {bleu.value:.2f} |"
            )
    return "\n".join(lines)


def _best(engine: Engine, sources: list[list[int]], config: SearchConfig) -> list[Hypothesis]:
    return [best for best, *_ in engine.search(sources, config)]


def _num_same(found: list[Hypothesis], others: list[Hypothesis]) -> str:
    """Tell how many have the same pieces."""
    same = sum(one.pieces == other.pieces for one, other in zip(found, others, strict=True))
    return f"{same:,} of {len(found):,}"
