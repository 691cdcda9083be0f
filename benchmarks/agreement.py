"""Whether the engines find the same, and what rounding to int8 costs."""

from collections.abc import Sequence
from dataclasses import replace

from heedful.decoding.ctranslate2_engine import CTranslate2Engine
from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.layout import exact_layout
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.decoding.sentence import Engine
from heedful.evaluation import evaluate
from heedful.folder import ModelFolder


def agreement_table(folder: ModelFolder, texts: Sequence[str], references: Sequence[str]) -> str:
    """Lay out how many translations agree piece by piece, and the BLEU of each engine."""
    tokenizer, exact = folder.tokenizer(), exact_layout()
    usual = SearchConfig(**folder.provenance()["search"])
    sources = [tokenizer.encode(text) for text in texts]
    engines: dict[str, Engine] = {
        "PyTorch": PyTorchEngine.load(folder),
        "CTranslate2, float32": CTranslate2Engine(folder, exact),
        "CTranslate2, int8": CTranslate2Engine(folder, exact._replace(compute_type="int8")),
    }
    lines = ["| beam | engine | as PyTorch, piece by piece | BLEU |", "|---|---|---|---|"]
    for beam_size in (1, 4):
        config = replace(usual, beam_size=beam_size)
        found = {
            name: [best.pieces for best, *_ in engine.search(sources, config)]
            for name, engine in engines.items()
        }
        for name, translations in found.items():
            same = sum(map(tuple.__eq__, translations, found["PyTorch"]))
            written = [tokenizer.decode(pieces) for pieces in translations]
            bleu, *_ = evaluate(written, references, tokenize="none")
            lines.append(
                f"| {beam_size} | {name} | {same:,} of {len(texts):,} | {bleu.value:.2f} |"
            )
    return "\n".join(lines)
