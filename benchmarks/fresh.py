"""How soon a fresh process has translated one sentence."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder

_BARE = """
import sys
import ctranslate2
import sentencepiece
model, text = sys.argv[1:]
pieces = sentencepiece.SentencePieceProcessor(model_file=f"{model}/tokenizer.model")
translator = ctranslate2.Translator(f"{model}/ctranslate2")
(result,) = translator.translate_batch([pieces.encode(f" {text}", out_type=str)])
print(pieces.decode(result.hypotheses[0]))
"""

_HUGGINGFACE = """
import sys
import sentencepiece
import torch
from transformers import M2M100ForConditionalGeneration
model, text, weights = sys.argv[1:]
pieces = sentencepiece.SentencePieceProcessor(model_file=f"{model}/tokenizer.model")
network = M2M100ForConditionalGeneration.from_pretrained(weights)
ids = torch.tensor([[*pieces.encode(f" {text}"), pieces.eos_id()]])
(written,) = network.generate(input_ids=ids, num_beams=4, max_new_tokens=80).tolist()
print(pieces.decode(written))
"""

_OURS = "heedful translate"


def print_fresh_processes(model: Path, text: str, rounds: int) -> None:
    """Start every program in turn, once unmeasured, and print the seconds each took in all."""
    with TemporaryDirectory() as weights:
        commands = {
            _OURS: ["-m", "heedful", "translate", str(model), text],
            "bare CTranslate2 script": ["-c", _BARE, str(model), text],
            "heedful translate --engine pytorch": [
                *("-m", "heedful", "translate", str(model), text, "--engine", "pytorch")
            ],
        }
        if find_spec("transformers") and ModelFolder(model).config().normalisation == "pre":
            from benchmarks.translators import m2m100

            m2m100(load_model(ModelFolder(model))).save_pretrained(weights)
            commands["HuggingFace script"] = ["-c", _HUGGINGFACE, str(model), text, weights]
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for arguments in commands.values():
            _seconds(arguments)
        for _ in range(rounds):
            for name, arguments in commands.items():
                taken[name].append(_seconds(arguments))
    print("| program | seconds, median | fastest | ours / it |\n|---|---|---|---|")
    for name, seconds in taken.items():
        lead = median(it / ours for it, ours in zip(seconds, taken[_OURS], strict=True))
        print(
            f"| {name} | {median(seconds):.2f} | {min(seconds):.2f} "
            f"| {'' if name == _OURS else f'{lead:.2f}'} |",
            flush=True,
        )


def _seconds(arguments: list[str]) -> float:
    # An installed program has its bytecode; one that may not write it is compiled at every start.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *arguments]
    began = perf_counter()
    subprocess.run(command, env=environment, capture_output=True, check=True)
    return perf_counter() - began
