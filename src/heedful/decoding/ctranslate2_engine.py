"""The fast engine: CTranslate2, without torch."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import ctranslate2

from heedful.decoding.hypothesis import (
    Attention,
    Hypothesis,
    Reading,
    Sampling,
    SearchConfig,
    attention_of_pieces,
    length_limit,
    length_penalty,
)
from heedful.errors import ForkError, ModelFolderError
from heedful.model.config import ModelConfig
from heedful.specials import BOS, EOS, UNK
from heedful.storage.documents import read_record, refuse_odd_file
from heedful.storage.folder import ModelFolder

_LONGEST = 2_048  # sinusoids that are exported; ours have no end
_drawing = Lock()  # a seed holds for the whole process, so one search at a time draws by it
MOST_WEIGHTS = 1 << 20  # of attention that are held at once, unless one text has more
_MOST_BYTES = {"model.bin": 1 << 40, "config.json": 1 << 16}  # and of lists of pieces:
_MOST_SPELT = 1 << 28
_MANY = 128  # sources that are worth a shortlist
_BATCHES: dict[str, Any] = {  # how to cut what is put in the queue, which may be of any length
    "max_batch_size": 512,  # source pieces
    "batch_type": "tokens",
    "max_input_length": 0,
    "asynchronous": True,
}


def most_pieces(config: ModelConfig) -> int:
    """Return how long a text an exported model can read or write."""
    return config.max_length if config.positions == "learned" else _LONGEST


_Spelt = list[list[str]]
_Pairs = list[tuple[Sequence[int], Sequence[int]]]


@dataclass(frozen=True, kw_only=True)
class _Usage:
    """How an export says that its model is asked."""

    add_source_bos: bool
    add_source_eos: bool
    bos_token: str
    decoder_start_token: str
    eos_token: str
    unk_token: str
    layer_norm_epsilon: float


class _Wish(NamedTuple):
    """A source, and how its translation begins."""

    source: tuple[int, ...]
    prefix: tuple[int, ...]


class CTranslate2Engine:
    """Translates ids to ids with an exported model, a batch on each core.

    It rounds to int8 where the processor can, and who shares a batch does not show. An exact one
    stays with float32, and finds what the PyTorch engine finds. A fast one scores in bulk only the
    pieces that a shortlist names (vocabulary selection), by which company may show.
    """

    def __init__(
        self,
        folder: ModelFolder,
        config: ModelConfig | None = None,
        *,
        exact: bool = False,
        fast: bool = False,
    ) -> None:
        config = config or folder.config()
        _refuse_odd_files(folder)
        self._pieces = _vocabulary(folder)
        if len(self._pieces) != config.vocab_size:
            raise _damaged(folder, ValueError(f"{len(self._pieces)} pieces are not the model's"))
        _refuse_other_usage(folder, self._pieces)
        self._ids = {piece: id for id, piece in enumerate(self._pieces)}
        self.most_pieces = most_pieces(config)
        self._shift = folder.alignment_head(config).shift
        self.folder, self._is_fast = folder, fast
        self._compute_type = "float32" if exact else _rounded()
        self._translator = self._load(_num_cores())
        self._process = os.getpid()

    def search(
        self,
        sources: Sequence[list[int]],
        config: SearchConfig,
        *,
        no_repeat: int = 0,
        prefixes: Sequence[Sequence[int]] = (),
        sampling: Sampling | None = None,
    ) -> list[list[Hypothesis]]:
        """Find the best hypotheses of every source, best first; equal ones are searched once."""
        self._refuse_fork()
        wishes = [
            _Wish(tuple(source), tuple(prefix))
            for source, prefix in zip(sources, prefixes or repeat((), len(sources)), strict=True)
        ]
        if sampling:
            with _drawing:
                return self._search(wishes, config, no_repeat, sampling)
        distinct = list(dict.fromkeys(wishes))
        found = self._search(distinct, config, no_repeat, None)
        found_for = dict(zip(distinct, found, strict=True))
        return [found_for[wish] for wish in wishes]

    def read(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Reading]:
        """Tell how likely each piece of given translations is, and where the model looks."""
        for portion in _portions(sources, targets):
            scored: dict[int, Any] = {}
            for group, spelt, written in self._groups(portion):
                scores = self._translator.score_batch(spelt, written, **_BATCHES)
                scored.update(zip(group, scores, strict=True))
            for number, attention in enumerate(self._look_at(portion)):
                yield Reading(tuple(scored[number].result().log_probs), attention)

    def look(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
    ) -> Iterator[Attention]:
        """Tell where the model looks as it reads given translations.

        A search could tell as well, but the first piece of what it finds would come with the
        attention of another sentence: CTranslate2 takes that before it spreads out the beam.
        """
        return chain.from_iterable(map(self._look_at, _portions(sources, targets)))

    def _look_at(self, portion: _Pairs) -> Iterator[Attention]:
        """Look at a few pairs at once."""
        looks: dict[int, Any] = {}
        for group, spelt, written in self._groups(portion):
            results = self._translator.translate_batch(
                spelt,
                target_prefix=written,
                beam_size=1,
                min_decoding_length=0,
                max_decoding_length=min(len(written[0]) + 1, self.most_pieces),
                return_end_token=True,
                return_attention=True,
                **_BATCHES,
            )
            looks.update(zip(group, results, strict=True))
        for number, (_, target) in enumerate(portion):
            steps = looks.pop(number).result().attention[0][: len(target) + 1]
            yield attention_of_pieces(steps, len(target), self._shift)

    def _groups(
        self, pairs: _Pairs
    ) -> Iterator[tuple[list[int], list[list[str]], list[list[str]]]]:
        """Give the numbers of pairs of one length, with their pieces."""
        self._refuse_fork()
        for group in _of_one_length(*zip(*pairs, strict=True)):
            spelt, written = (
                [self._spell(pairs[index][side]) for index in group] for side in (0, 1)
            )
            yield group, spelt, written

    def next_pieces(self, source: Sequence[int], prefix: Sequence[int]) -> list[float]:
        """Return the log-probability of every piece after a prefix."""
        self._refuse_fork()
        (result,) = self._translator.translate_batch(
            [self._spell(source)],
            target_prefix=[self._spell(prefix)],
            beam_size=1,
            min_decoding_length=0,
            max_decoding_length=len(prefix) + 1,
            max_input_length=0,
            return_end_token=True,
            return_logits_vocab=True,
        )
        import numpy as np  # which takes longer than a translation

        logits = np.array(result.logits[0][-1], dtype=np.float64)
        likely: list[float] = (logits - np.logaddexp.reduce(logits)).tolist()
        return likely

    def _refuse_fork(self) -> None:
        """Refuse to wait for threads that a fork has left behind, for they never answer."""
        if os.getpid() != self._process:
            raise ForkError(
                f"{self.folder.path}: loaded by process {self._process} and used in its fork "
                f"{os.getpid()}, which has none of its threads; call heedful.load in the fork, "
                "or start processes by 'spawn'"
            )

    def _spell(self, ids: Sequence[int]) -> list[str]:
        return [self._pieces[id] for id in ids]

    def _load(self, workers: int) -> ctranslate2.Translator:
        """Load the exported model, to translate so many batches at once on a thread each.

        CTranslate2 changes how many threads OpenMP has in the thread that loads a model, and torch
        would go on with as few there; so a thread is made for it.
        """
        with ThreadPoolExecutor(1) as pool:
            loading = pool.submit(
                ctranslate2.Translator,
                str(self.folder.ctranslate2),
                compute_type=self._compute_type,
                inter_threads=workers,
                intra_threads=1,
            )
        try:
            return loading.result()
        except (RuntimeError, ValueError, LookupError, MemoryError) as error:
            raise _damaged(self.folder, error) from error

    def _search(
        self,
        wishes: Sequence[_Wish],
        config: SearchConfig,
        no_repeat: int,
        sampling: Sampling | None,
    ) -> list[list[Hypothesis]]:
        """Put all wishes in the queue, and look at what becomes of them in the same order."""
        translator, chance = self._chosen(sampling, wishes)
        groups = _of_one_length([wish.source for wish in wishes], [wish.prefix for wish in wishes])
        if groups and self._is_fast and not sampling:
            groups = [list(chain(*groups))]
        pending: dict[int, ctranslate2.AsyncTranslationResult] = {}
        for group in groups:
            members = [wishes[index] for index in group]
            results = self._begin(translator, members, config, no_repeat, chance)
            pending.update(zip(group, results, strict=True))
        found = {
            index: self._best_first(result.result(), config) for index, result in pending.items()
        }
        return [found[index] for index in range(len(wishes))]

    def _begin(
        self,
        translator: ctranslate2.Translator,
        wishes: Sequence[_Wish],
        config: SearchConfig,
        no_repeat: int,
        chance: dict[str, Any],
    ) -> list[ctranslate2.AsyncTranslationResult]:
        has_prefix = any(wish.prefix for wish in wishes)
        limit = max(length_limit(len(wish.source), len(wish.prefix)) for wish in wishes)
        begun: list[ctranslate2.AsyncTranslationResult] = translator.translate_batch(
            [self._spell(wish.source) for wish in wishes],
            target_prefix=[self._spell(wish.prefix) for wish in wishes] if has_prefix else None,
            beam_size=config.beam_size,
            patience=config.num_ended / config.beam_size,
            num_hypotheses=config.num_ended,
            # Hypotheses come with their log-probability, and we rank them. The search ends when the
            # likeliest hypothesis of a step has ended, and as many as are asked for.
            length_penalty=0,
            # EOS has its probability in the first step, unless this is a second try.
            min_decoding_length=int(no_repeat > 0),
            max_decoding_length=min(limit, self.most_pieces),
            no_repeat_ngram_size=no_repeat,
            return_scores=True,
            return_end_token=True,
            # Likely pieces of a whole batch miss next to nothing; those of one sentence would.
            use_vmap=self._is_fast and len(wishes) >= _MANY and not chance,
            **_BATCHES,
            **chance,
        )
        return begun

    def _best_first(
        self, result: ctranslate2.TranslationResult, config: SearchConfig
    ) -> list[Hypothesis]:
        """Rank by score, and return what is of use."""
        found = list(zip(result.hypotheses, result.scores, strict=True))
        if len(found) > 1:
            found.sort(key=lambda it: -it[1] / length_penalty(len(it[0]), config.alpha))
        return [self._hypothesis(*written) for written in found[: config.num_kept]]

    def _chosen(
        self, sampling: Sampling | None, wishes: Sequence[_Wish]
    ) -> tuple[ctranslate2.Translator, dict[str, Any]]:
        """Return what translates, and the options by which it draws, if it is to draw."""
        if not sampling:
            return self._translator, {}
        ctranslate2.set_random_seed(sampling.seed_for([wish.source for wish in wishes]))
        # Each thread is seeded once, when it starts: one new thread draws what the seed says.
        return self._load(workers=1), {
            "sampling_temperature": sampling.temperature,
            "sampling_topk": min(sampling.top_k, len(self._pieces)),
            "sampling_topp": sampling.top_p,
        }

    def _hypothesis(self, pieces: Sequence[str], log_probability: float) -> Hypothesis:
        ids = tuple(map(self._ids.__getitem__, pieces))
        is_finished = ids[-1:] == (EOS,)
        return Hypothesis(ids[:-1] if is_finished else ids, log_probability, is_finished)


def _portions(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> Iterator[_Pairs]:
    """Cut pairs into portions whose attention fits into memory, however many pairs there are."""
    portion: _Pairs = []
    weights = 0
    for pair in zip(sources, targets, strict=True):
        size = (len(pair[0]) + 1) * (len(pair[1]) + 1)
        if portion and weights + size > MOST_WEIGHTS:
            yield portion
            portion, weights = [], 0
        portion.append(pair)
        weights += size
    if portion:
        yield portion


def _of_one_length(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Group the numbers of pairs that are as long on both sides, the longest first.

    Where nothing is padded, a sentence takes the same sums whoever shares its batch. In int8, those
    that do depend on the batch are of whole numbers, so not a bit is different (decision 18).
    """
    groups = defaultdict(list)
    for index, pair in enumerate(zip(sources, targets, strict=True)):
        groups[tuple(map(len, pair))].append(index)
    return [groups[lengths] for lengths in sorted(groups, reverse=True)]


def _rounded() -> str:
    return "int8" if "int8" in ctranslate2.get_supported_compute_types("cpu") else "float32"


def _num_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _refuse_odd_files(folder: ModelFolder) -> None:
    """Refuse devices and pipes, which CTranslate2 would read for ever."""
    for path in folder.ctranslate2.iterdir():
        refuse_odd_file(path, most_bytes=_MOST_BYTES.get(path.name, _MOST_SPELT))


def _refuse_other_usage(folder: ModelFolder, pieces: Sequence[str]) -> None:
    """Refuse what CTranslate2 would stumble over at the first translation."""
    path = folder.ctranslate2 / "config.json"
    found = read_record(_Usage, path)
    wanted = _Usage(
        add_source_bos=False,
        add_source_eos=True,
        bos_token=pieces[BOS],
        decoder_start_token=pieces[BOS],
        eos_token=pieces[EOS],
        unk_token=pieces[UNK],
        layer_norm_epsilon=found.layer_norm_epsilon,
    )
    if found != wanted:
        raise _damaged(folder, ValueError(f"{path.name} is not of an export of heedful's"))


def _vocabulary(folder: ModelFolder) -> list[str]:
    """Read the pieces as the export spells them, which is quicker than to ask the tokenizer."""
    try:
        spelt = (folder.ctranslate2 / "shared_vocabulary.json").read_text(encoding="utf-8")
        pieces = json.loads(spelt)
        _refuse_odd_shortlist(folder.shortlist_file)
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(folder, error) from error
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise _damaged(folder, ValueError("shared_vocabulary.json is no list of pieces"))
    return pieces


def _refuse_odd_shortlist(path: Path) -> None:
    """Refuse what is no shortlist: CTranslate2 reads it unasked, and some crash it."""
    if path.exists():
        lines = path.read_text(encoding="utf-8").split("\n")
        if not lines.pop() == "" or not lines or not all(line.count("\t") == 1 for line in lines):
            raise ValueError(f"{path.name} is no shortlist")


def _damaged(folder: ModelFolder, error: Exception) -> ModelFolderError:
    reason, *_ = str(error).splitlines() or ["out of memory"]
    return ModelFolderError(
        f"{folder.ctranslate2}: damaged, {reason}; make it again with: heedful export {folder.path}"
    )
