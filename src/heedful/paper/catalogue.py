"""The names that `heedful paper` knows, and what each of them takes."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from heedful.errors import ConfigError, HeedfulError, near_miss
from heedful.paper.request import Request, claim_folder, give_up
from heedful.paper.result import Events, Result


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A table, a figure or an experiment."""

    module: str
    about: str
    takes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


_CORPUS = ("source", "target", "valid_source", "valid_target")

ENTRIES: dict[str, Entry] = {
    "table1": Entry(
        module="table1", about="complexity, sequential operations and path lengths, measured"
    ),
    "table2": Entry(
        module="table2",
        about="quality and cost beside recurrent and convolutional networks",
        takes=(*_CORPUS, "minutes", "size"),
    ),
    "table3": Entry(
        module="table3",
        about="rows A to E: printed, counted at full size, trained at yours",
        takes=(*_CORPUS, "minutes", "size", "seeds"),
    ),
    "table4": Entry(
        module="table4",
        about="parsing as translation, on a folder of bracketed trees",
        needs=("trees",),
        takes=("minutes",),
    ),
    "figure1": Entry(module="figure1", about="the network of a model folder", needs=("model",)),
    "figure2": Entry(
        module="figure2",
        about="attention with the numbers of a real head",
        needs=("model",),
        takes=("text",),
    ),
    "figure3": Entry(
        module="heads", about="heads that look far", needs=("model",), takes=("text",)
    ),
    "figure4": Entry(
        module="heads", about="heads that know what 'it' means", needs=("model",), takes=("text",)
    ),
    "figure5": Entry(
        module="heads", about="heads that follow structure", needs=("model",), takes=("text",)
    ),
    "worked-example": Entry(
        module="worked_example", about="attention to decoding by hand, every number with its sum"
    ),
    "six-words": Entry(
        module="six_words", about="the vocabulary of six words: targets, training, greedy and beam"
    ),
    "schedule": Entry(module="schedule", about="equation 3 for several widths and warm-ups"),
    "positions": Entry(
        module="positions",
        about="section 3.5: sinusoids, both ways, and learned",
        takes=("model",),
    ),
    "properties": Entry(module="properties", about="what is said of the network itself"),
    "smoothing": Entry(
        module="smoothing",
        about="what label smoothing does to loss, perplexity and BLEU",
        takes=(*_CORPUS, "minutes", "size"),
    ),
    "cache": Entry(
        module="cache",
        about="keys and values kept while decoding: sizes and time",
        needs=("model",),
        takes=("text",),
    ),
    "scaling-of-scores": Entry(
        module="scaling_of_scores", about="section 3.2.1: why dot products are divided by √d_k"
    ),
    "all": Entry(
        module="all",
        about="everything within --minutes, as one HTML report",
        takes=(*_CORPUS, "minutes", "size", "seeds", "model", "trees"),
    ),
}


def run(request: Request) -> Events:
    """Do what is asked: lines on the way, and the result."""
    entry = _entry(request.name)
    for name in sorted(request.given - {*entry.takes, *entry.needs}):
        raise ConfigError(f"{request.name} takes no {_option(name)}; leave it out")
    for name in entry.needs:
        if name not in request.given:
            raise ConfigError(f"{request.name} needs {_option(name)}; {_NEEDED[name]}")
    claim_folder(request.out)
    module = import_module(f"heedful.paper.{entry.module}")
    try:
        yield from module.run(request)
    except HeedfulError:
        give_up(request.out)
        raise


def measured(name: str, **options: Any) -> Result:
    """Do what is asked, as from a notebook; return the result alone."""
    *_, result = run(Request(name=name, **options))
    assert isinstance(result, Result)
    return result


def _entry(name: str) -> Entry:
    if name not in ENTRIES:
        raise ConfigError(f"'{name}' is no table or figure; {near_miss(name, ENTRIES)}")
    return ENTRIES[name]


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


_NEEDED = {
    "model": "name a model folder, as written by `heedful train`",
    "trees": "name a folder of bracketed trees, such as treebank/combined",
}
