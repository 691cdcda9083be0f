import subprocess
import sys

import pytest

HEAVY = {"torch", "transformers", "numpy", "sacrebleu", "typer", "rich", "pydantic", "tensorboard"}


@pytest.mark.slow
def test_a_sentence_is_translated_without_importing_anything_heavy(model_folder):
    code = "import sys; from heedful.__main__ import main; main(); print(*sys.modules)"
    arguments = ["translate", str(model_folder.path), "a b c"]

    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )

    modules = set(done.stdout.rstrip("\n").split("\n")[-1].split(" "))
    assert {"ctranslate2", "sentencepiece"} <= modules
    assert not HEAVY & modules
