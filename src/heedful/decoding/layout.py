"""How CTranslate2 is best set up on this machine for this model: measured once, then remembered."""

import json
import math
import os
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import ctranslate2

from heedful.errors import StorageError
from heedful.storage.folder import ModelFolder, write_atomically

_LENGTH = 16  # pieces of a sentence to measure with, source and target each
_SENTENCES = 256
_ROUNDS = 5
_CLEARLY = 1.5  # times as fast: threads that share a batch lose manyfold when a core is wanted


class Layout(NamedTuple):
    """Numbers, threads and batches of the fast engine."""

    compute_type: str
    """"float32" finds what the PyTorch engine finds; "int8" rounds, and is faster on most CPUs."""
    workers: int
    """Batches translated at the same time."""
    threads: int
    """Threads that work on one batch."""
    batch_tokens: int = 512
    """Source pieces in a batch, padding included."""

    def translator(self, folder: ModelFolder) -> ctranslate2.Translator:
        """Load the exported model.

        CTranslate2 changes how many threads OpenMP has in the thread that loads a model, and torch
        would go on with as few there; so a thread is made for it.
        """
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(
                ctranslate2.Translator,
                str(folder.ctranslate2),
                compute_type=self.compute_type,
                inter_threads=self.workers,
                intra_threads=self.threads,
            ).result()


def exact_layout() -> Layout:
    """Return a layout that finds what the PyTorch engine finds, one batch on each core."""
    return Layout(compute_type="float32", workers=_num_cores(), threads=1)


def known_layout(folder: ModelFolder) -> Layout:
    """Return the layout as remembered; or, unmeasured, one that is seldom far from the best."""
    return _remembered(folder) or _candidates(_num_cores())[0]


def best_layout(folder: ModelFolder) -> Layout:
    """Return the best layout, as remembered or else as measured now, in a second or two."""
    if remembered := _remembered(folder):
        return remembered
    best, *others = _candidates(_num_cores())
    if others:
        best = _measured(folder, [best, *others])
    with suppress(OSError, RuntimeError, StorageError):  # then it is measured again the next time
        memory = _memory(folder)
        memory.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(memory, json.dumps(best._asdict()))
    return best


def _candidates(cores: int) -> list[Layout]:
    """Return what is worth trying, the likeliest first: a thread for each batch, or all for one.

    All round to int8, so that it does not show which of them translates.
    """
    return [
        Layout(compute_type="int8", workers=workers, threads=cores // workers)
        for workers in sorted({1, cores}, reverse=True)
    ]


def _measured(folder: ModelFolder, layouts: list[Layout]) -> Layout:
    """Let the layouts take turns on the same sentences; who is far behind drops out at once.

    The first of them stays, and is left only for one that is clearly faster: a moment in which
    something else had the machine must not decide for good.
    """
    usual, sources = layouts[0], _random_sentences(folder)
    translators = {layout: layout.translator(folder) for layout in layouts}
    for layout in layouts:
        _seconds(translators[layout], layout, sources[:2])  # the first time takes longer
    for num_sentences in (8, 32):
        first = {
            layout: _seconds(translators[layout], layout, sources[:num_sentences])
            for layout in layouts
        }
        near = 2 * min(first.values())
        layouts = [layout for layout in layouts if layout == usual or first[layout] < near]
    fastest = dict.fromkeys(layouts, math.inf)
    for _ in range(_ROUNDS):
        for layout in layouts:
            seconds = _seconds(translators[layout], layout, sources)
            fastest[layout] = min(fastest[layout], seconds)
    best = min(fastest, key=lambda layout: fastest[layout])
    return best if _CLEARLY * fastest[best] < fastest[usual] else usual


def _random_sentences(folder: ModelFolder) -> list[list[str]]:
    tokenizer, random = folder.tokenizer(), Random(2017)
    pieces = tokenizer.pieces(tokenizer.merged_ids) or ["a"]
    return [random.choices(pieces, k=_LENGTH) for _ in range(_SENTENCES)]


def _seconds(
    translator: ctranslate2.Translator,
    layout: Layout,
    sources: list[list[str]],
) -> float:
    """Time the translation of sentences into as many pieces."""
    began = time.perf_counter()
    translator.translate_batch(
        sources,
        beam_size=1,
        min_decoding_length=_LENGTH,
        max_decoding_length=_LENGTH,
        max_batch_size=layout.batch_tokens,
        batch_type="tokens",
    )
    return time.perf_counter() - began


def _remembered(folder: ModelFolder) -> Layout | None:
    # Never measured, or by another heedful; or by somebody who has no home.
    with suppress(OSError, ValueError, TypeError, RuntimeError):
        layout = Layout(**json.loads(_memory(folder).read_text(encoding="utf-8")))
        return layout if layout in _candidates(_num_cores()) else None
    return None


def _memory(folder: ModelFolder) -> Path:
    """Return the file that remembers the layout for this machine and model."""
    weights = (folder.ctranslate2 / "model.bin").stat()
    facts = (
        ctranslate2.__version__,
        sorted(ctranslate2.get_supported_compute_types("cpu")),
        _num_cores(),
        _CLEARLY,  # what was chosen by another rule is chosen anew
        weights.st_size,
        weights.st_mtime_ns,
    )
    key = f"{zlib.crc32(repr(facts).encode()):08x}"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "heedful" / f"layout-{key}.json"


def _num_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
