"""The doctor: notices what goes wrong in a run, and says what it means and what to do.

A false alarm is worse than a miss, so every limit here lies far from what healthy runs do.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from heedful.data.corpus import CleaningReport
from heedful.data.misalignment import Misalignment, find_misalignment
from heedful.data.pair_ids import PairIds
from heedful.data.prepare import PreparedCorpus
from heedful.runs.events import Event, Prepared, RolledBack, Started, Validation, WentBack
from heedful.storage.folder import ModelFolder
from heedful.storage.writing import write_atomically
from heedful.text.tokenizer import choose_vocab_size
from heedful.training.step import Step

_FEWEST_VALID_PAIRS = 20  # from which to tell what language a side is in
_LIKENESS_MARGIN = 0.2  # real pairs of languages differ by 0.4 and more
_KNOWN_SHARE = 0.05  # of the validation pairs; short ones may well be in both files
FEWEST_PAIRS = 500
_DROPPED_SHARE = 0.01  # of the pairs, by one setting
_RARE = 5  # occurrences from which little can be learned
_RARE_SHARE = 0.5  # of the pieces; with 10,000 for Multi30k, which works well, it is 0.09
_IN_A_ROW = 3  # validations that must agree before anything is said of them
_SETTLING_STEPS = 300  # after the peak of the learning rate, when outputs may still be odd
_PROGRESS = 0.97  # a loss that falls further meanwhile is still on its way
_ALIKE_SHARE = 0.05  # different translations per different reference
_FEWEST_REFERENCES = 20
_SHORT, _LONG = 0.5, 2.0  # times the length of the references
_OVERFIT_RISE = 0.1  # of the validation loss over its best, in nats


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Something that goes wrong: what was seen, what it probably means, and what to do."""

    name: str
    step: int
    """Of the run when it was noticed; 0 is before the first."""
    seen: str
    meaning: str
    advice: str

    def __str__(self) -> str:
        return f"{self.name}: {self.seen}; {self.meaning}. {self.advice}."


def watch(events: Iterable[Event]) -> Iterator[Event | Diagnosis]:
    """Pass on the events of a run, and after them what they give cause to say, each thing once."""
    chart, said = _Chart(), set[str]()
    for event in events:
        if isinstance(event, Prepared):  # a model of its own, where there are teachers
            said.clear()
        yield event
        for diagnosis in chart.read(event):
            if diagnosis.name not in said:
                said.add(diagnosis.name)
                yield diagnosis


def attend(events: Iterable[Event]) -> Iterator[Event | Diagnosis]:
    """Watch a run and write down in its folder what is said, once however often it is taken up.

    What is said of teachers is written down in theirs.
    """
    folder: ModelFolder
    for event in watch(events):
        if isinstance(event, Prepared):
            folder = event.folder
        if isinstance(event, Diagnosis):
            known = folder.diagnoses()
            if event.name not in {past["name"] for past in known}:
                lines = [json.dumps(past) + "\n" for past in (*known, asdict(event))]
                write_atomically(folder.diagnoses_file, "".join(lines))
        yield event


class _Chart:
    """What the doctor remembers of a run."""

    def __init__(self) -> None:
        self.unigram_loss = math.inf
        self.peak_rate, self.peak_step = 0.0, 0
        self.validations: list[Validation] = []

    def read(self, event: Event) -> Iterator[Diagnosis]:
        """Take an event down and tell what is wrong by now."""
        match event:
            case Prepared():
                self.unigram_loss = _unigram_loss(event)
                yield from _examine(event.corpus)
            case Started():
                self.validations = list(event.validations)
                self.peak_rate, self.peak_step = 0.0, 0
                for past in event.validations:
                    self._note_rate(past.learning_rate, past.step)
            case Step():
                self._note_rate(event.learning_rate, event.number)
            case RolledBack():
                self._forget_after(event.step)
                yield self._diverged(event)
            case WentBack():
                self._forget_after(event.step)
            case Validation():
                self.validations.append(event)
                yield from self._overfitting()
                settled_from = self.peak_step + _SETTLING_STEPS
                recent = [v for v in self.validations if v.step >= settled_from][-_IN_A_ROW:]
                if len(recent) == _IN_A_ROW and recent[-1].loss > _PROGRESS * recent[0].loss:
                    yield from self._stuck(recent)
                    yield from _outputs_alike(recent)
                    yield from _length_collapse(recent)

    def _note_rate(self, rate: float, step: int) -> None:
        if rate > self.peak_rate:
            self.peak_rate, self.peak_step = rate, step

    def _forget_after(self, step: int) -> None:
        self.validations = [past for past in self.validations if past.step <= step]

    def _diverged(self, event: RolledBack) -> Diagnosis:
        return Diagnosis(
            name="learning rate too high",
            step=event.diverged.number,
            seen=f"training loss rose from {event.best_loss:.2f} to {event.loss:.2f}",
            meaning=f"steps at a rate of {event.diverged.learning_rate:.1e} overshoot",
            advice=self._lower_the_rate(),
        )

    def _stuck(self, recent: list[Validation]) -> Iterator[Diagnosis]:
        """Tell when the model has learned how common each piece is, and then nothing more."""
        if all(0.95 < past.loss / self.unigram_loss < 1.1 for past in recent):
            yield Diagnosis(
                name="learning rate too high",
                step=recent[-1].step,
                seen=f"validation loss stays at {recent[-1].loss:.2f}, and to know only how common "
                f"each piece is would give {self.unigram_loss:.2f}",
                meaning=f"a rate of up to {self.peak_rate:.1e} has thrown the model off",
                advice=self._lower_the_rate(),
            )

    def _lower_the_rate(self) -> str:
        return (
            f"Train into another folder with peak_rate = {self.peak_rate / 4:.0e} or with more "
            "warmup_steps"
        )

    def _overfitting(self) -> Iterator[Diagnosis]:
        """Tell when the model gets better on what it has seen and worse on all else."""
        best = min(self.validations, key=lambda past: past.loss)
        recent = self.validations[self.validations.index(best) + 1 :][-_IN_A_ROW:]
        now = self.validations[-1]
        if (
            len(recent) == _IN_A_ROW
            and all(past.loss > best.loss + _OVERFIT_RISE for past in recent)
            and now.train_loss < best.train_loss
            and now.bleu.value < max(past.bleu.value for past in self.validations)
        ):
            yield Diagnosis(
                name="overfitting",
                step=now.step,
                seen=f"since step {best.step:,} validation loss rose from {best.loss:.2f} to "
                f"{now.loss:.2f} while training loss fell from {best.train_loss:.2f} to "
                f"{now.train_loss:.2f}",
                meaning="the training pairs are being learned by heart",
                advice="Find more pairs, or train into another folder with more dropout, a smaller "
                f"model, or patience = {_IN_A_ROW} to stop earlier",
            )


def _outputs_alike(recent: list[Validation]) -> Iterator[Diagnosis]:
    now = recent[-1]
    if now.num_distinct_references >= _FEWEST_REFERENCES and all(
        past.num_distinct <= max(1, _ALIKE_SHARE * past.num_distinct_references) for past in recent
    ):
        yield Diagnosis(
            name="outputs all alike",
            step=now.step,
            seen=f"different translations: {now.num_distinct}, different references: "
            f"{now.num_distinct_references}",
            meaning="the model does not look at the source: the pairs may not belong together, or "
            "it has been thrown off by too high a learning rate",
            advice="Look at some lines of both files side by side; if they match, lower peak_rate",
        )


def _length_collapse(recent: list[Validation]) -> Iterator[Diagnosis]:
    now = recent[-1]
    is_short = all(past.length_ratio < _SHORT for past in recent)
    is_long = all(past.length_ratio > _LONG for past in recent)
    if is_short or is_long:
        yield Diagnosis(
            name="length collapse",
            step=now.step,
            seen=f"translations have {now.length_ratio:.2f} times the length of their references",
            meaning="the training targets end too early or do not belong to their sources"
            if is_short
            else "the model does not know when to end: it repeats itself, or the training targets "
            "run on",
            advice="Compare the lengths of training and validation targets; if they are alike, "
            "train longer or with a lower peak_rate",
        )


def _unigram_loss(prepared: Prepared) -> float:
    """Return the loss of one who knows only how often each target piece occurs, and the end."""
    targets = prepared.corpus.train.piece_counts(prepared.vocab_size)[1]
    counts = np.append(targets[targets > 0], prepared.num_train)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _examine(corpus: PreparedCorpus) -> Iterator[Diagnosis]:
    """Tell what is wrong with a corpus before any training."""
    yield from _few(len(corpus.train))
    yield from _dropped(corpus.report)
    vocab_size = corpus.tokenizer.vocab_size
    train, valid = (pairs.piece_counts(vocab_size) for pairs in (corpus.train, corpus.valid))
    if len(corpus.valid) >= _FEWEST_VALID_PAIRS:
        yield from _swapped(train, valid)
    yield from _trained_on(corpus.num_valid_trained_on(), len(corpus.valid))
    yield from _misaligned(corpus.train, vocab_size, "training")
    yield from _misaligned(corpus.valid, vocab_size, "validation")
    suggested = choose_vocab_size(corpus.num_train_bytes)
    if vocab_size > suggested and not corpus.has_parent:
        yield from _vocabulary_too_large(train.sum(axis=0), suggested)


def _few(num_pairs: int) -> Iterator[Diagnosis]:
    if num_pairs < FEWEST_PAIRS:
        yield Diagnosis(
            name="few pairs",
            step=0,
            seen=f"there are {num_pairs:,} pairs to train on",
            meaning="from so few, they are learned by heart and hardly anything else is; ten "
            "thousand are a beginning",
            advice="Find more pairs; to see what training is like: heedful demo",
        )


def _dropped(report: CleaningReport) -> Iterator[Diagnosis]:
    for setting, (count, why) in report.dropped_by_setting.items():
        if count > _DROPPED_SHARE * report.read:
            yield Diagnosis(
                name=f"many pairs dropped by {setting}",
                step=0,
                seen=f"{count:,} of {report.read:,} pairs ({count / report.read:.1%}) were left "
                f"out as {why}",
                meaning="where texts are like that, good pairs are lost and never learned",
                advice=f"Look at some; if they are good, stop, and raise {setting} in [cleaning] "
                "of the recipe",
            )


def _swapped(train: NDArray[np.int64], valid: NDArray[np.int64]) -> Iterator[Diagnosis]:
    straight = _likeness(train[0], valid[0]) + _likeness(train[1], valid[1])
    crossed = _likeness(train[0], valid[1]) + _likeness(train[1], valid[0])
    if crossed > straight + _LIKENESS_MARGIN:
        yield Diagnosis(
            name="source and target swapped",
            step=0,
            seen="the validation target is like the training source, and the other way round "
            f"(likeness {crossed / 2:.2f}, against {straight / 2:.2f} as given)",
            meaning="source and target of either the training or the validation files are swapped",
            advice="Stop, and exchange the two names where they are wrong",
        )


def _likeness(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Compare two sides by the pieces they use: 1 is the same, 0 nothing in common."""
    return float(np.sqrt(one * other).sum() / np.sqrt(float(one.sum()) * float(other.sum())))


def _trained_on(num_known: int, num_valid: int) -> Iterator[Diagnosis]:
    if num_known > _KNOWN_SHARE * num_valid:
        yield Diagnosis(
            name="validation pairs are trained on",
            step=0,
            seen=f"{num_known:,} of the {num_valid:,} validation pairs are training pairs as well",
            meaning="scores will tell how well these are known by heart, and too little of how new "
            "text is translated",
            advice="Validate on other pairs, or leave it to the program, which holds some out",
        )


def _misaligned(pairs: PairIds, vocab_size: int, which: str) -> Iterator[Diagnosis]:
    if found := find_misalignment(pairs, vocab_size):
        yield Diagnosis(
            name="misaligned lines",
            step=0,
            seen=f"{_where(found, which)}, the own target fits a line better than another line's "
            f"in {found.share:.0%} of cases, and 50% is chance",
            meaning=_displacement(found),
            advice="Stop, and look at both files around there, line by line",
        )


def _where(found: Misalignment, which: str) -> str:
    if not found.first_pair:
        return f"in all {which} pairs"
    return f"in {which} pairs from about number {found.first_pair:,} on"


def _displacement(found: Misalignment) -> str:
    if not found.offset:
        return "source and target do not belong together, or one of them was shuffled or sorted"
    lines = f"{abs(found.offset)} line" + "s" * (abs(found.offset) > 1)
    where = "below" if found.offset > 0 else "above"
    return (
        f"the right target stands {lines} {where} ({found.share_at_offset:.0%} fit there), so that "
        "lines were lost or added on one side"
    )


def _vocabulary_too_large(counts: NDArray[np.int64], suggested: int) -> Iterator[Diagnosis]:
    occurring = counts[counts > 0]
    num_rare = int((occurring < _RARE).sum())
    if num_rare > _RARE_SHARE * len(occurring):
        yield Diagnosis(
            name="vocabulary too large",
            step=0,
            seen=f"{num_rare:,} of the {len(occurring):,} pieces in use occur fewer than {_RARE} "
            "times in training",
            meaning="most pieces are too rare to learn what they mean",
            advice="Train into another folder and leave vocab_size to the program, which will "
            f"choose {suggested:,}",
        )
