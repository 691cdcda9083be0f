"""Everything within a budget, as one report that one can hand out."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from heedful.errors import TooShortError
from heedful.paper.catalogue import ENTRIES
from heedful.paper.catalogue import run as run_one
from heedful.paper.corpus import files_of
from heedful.paper.laboratory import LEAST_MINUTES
from heedful.paper.report import counted, html_report
from heedful.paper.request import Request
from heedful.paper.result import Events, Result, Table
from heedful.paper.table2 import TUNING_SHARE
from heedful.paper.table3 import DEFAULT_SIZE, trained_rows
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from heedful.storage.writing import write_atomically

DEFAULT_MINUTES = 30.0
_WEIGHTS = {"model": 4, "table2": 6, "table3": 8, "smoothing": 2, "table4": 3}
"""How the minutes are shared out among what trains."""
_TRAINED = 0.9  # of the minutes; the rest computes, translates and draws
REPORT = "report.html"


def run(request: Request) -> Events:
    """Go through all names; what has been measured before is taken as it is."""
    minutes = request.minutes or DEFAULT_MINUTES
    shares = shared_out(request, minutes)
    model = request.model or request.out / "model"
    if "model" in shares and not ModelFolder(model).is_finished:
        yield f"a model to look into: {shares['model']:.2g} minutes of training"
        yield from _trained(request, model, shares["model"])
    results = []
    for name in (it for it in ENTRIES if it != "all"):
        if name == "table4" and request.trees is None:
            continue
        yield f"{name} ..."
        for event in run_one(_request_for(name, request, model, shares)):
            if isinstance(event, Result):
                results.append(event)
            yield event
    opening = (
        f"Measured on this machine, {minutes:g} minutes shared out among what trains. Each table "
        "says on what it was measured. "
        + ("" if request.trees else "Table 4 wants a folder of bracketed trees: --trees. ")
    )
    html = html_report(results, "Attention Is All You Need, measured", opening.strip())
    write_atomically(request.out / REPORT, html)
    yield _summary(request, results)


def shared_out(request: Request, minutes: float) -> dict[str, float]:
    """Return the minutes of each training, or refuse too few."""
    weights = dict(_WEIGHTS)
    if request.model is not None:
        del weights["model"]
    if request.trees is None:
        del weights["table4"]
    part = _TRAINED / sum(weights.values())
    needs = {
        "table2": 3 * LEAST_MINUTES / TUNING_SHARE,
        "table3": len(trained_rows(request.size or DEFAULT_SIZE)) * request.seeds * LEAST_MINUTES,
        "smoothing": 2 * LEAST_MINUTES,
        "table4": LEAST_MINUTES,
        "model": 1.0,
    }
    needed = max(needs[name] / (weight * part) for name, weight in weights.items())
    if minutes < needed:
        raise TooShortError(
            minutes, needed=needed, why="it is shared by all that trains for the report"
        )
    return {name: minutes * weight * part for name, weight in weights.items()}


def _trained(request: Request, model: Path, minutes: float) -> Iterator[str]:
    recipe = load_recipe("default", **files_of(request)).within(minutes)
    for _ in train_model(recipe, model):
        pass
    yield f"trained: {model}"


def _request_for(name: str, request: Request, model: Path, shares: dict[str, float]) -> Request:
    """Leave of a request what a name takes."""
    entry = ENTRIES[name]
    known = {*entry.takes, *entry.needs}
    fresh = Request(name=name, out=request.out)
    taken = {option: getattr(request, option) for option in known if option in request.given}
    if "model" in entry.needs:
        taken["model"] = model
    elif "model" in taken:
        del taken["model"]  # positions takes one only if they are learned
    taken.pop("text", None)
    if "minutes" in known:
        taken["minutes"] = shares[name]
    return replace(fresh, **taken)


def _summary(request: Request, results: list[Result]) -> Result:
    claims = [claim for result in results for claim in result.claims]
    return Result(
        name=request.name,
        title="All claims",
        tables=(
            Table(
                title=f"Of {len(claims)} claims {counted(claims)}",
                columns=("claim", "said in", "verdict"),
                rows=tuple((it.text, it.source, it.verdict) for it in claims),
            ),
        ),
        scale=f"The report, with tables, pictures and reasons: {request.out / REPORT}",
    )
