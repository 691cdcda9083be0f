"""From nothing to a translator in two minutes: the corpus that ships with the program."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from heedful.cli.display import show
from heedful.cli.info import tell_worth
from heedful.cli.terminal import say, say_scores
from heedful.data.embedded import Pair, generate
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.errors import ModelFolderError
from heedful.evaluation import evaluate
from heedful.explain.source_map import attention_table, source_attention
from heedful.machine.signals import stop_on_signals
from heedful.runs.doctor import attend
from heedful.runs.recipe import load_recipe
from heedful.runs.train import train_model
from heedful.storage.folder import ModelFolder
from heedful.storage.shipped import USUAL, shipped_models
from heedful.storage.writing import folder_written_whole, make_folder
from heedful.translation.translator import Translator, load

RECIPE = "demo"
_SHOWN = 8
_EVERYDAY = (
    ("Where is the station?", "fr"),
    ("je suis étudiant", "en"),
    ("Ich habe keine Zeit.", "en"),
    ("Me gusta leer.", "de"),
    ("How much does it cost?", "es"),
)
_MAP_CHARACTERS = 20  # enough to look at, and few enough to fit a narrow terminal


def run_demo(out: Path, locale: str, console: Console) -> None:
    """Generate the embedded corpus, train on it, score, translate and look inside."""
    corpus = generate(locale)
    model = out / "model"
    if ModelFolder(model).is_finished:
        raise ModelFolderError(f"{out} holds a finished demo; delete it, or choose another folder")
    console.rule(f"English to '{locale}': dates, numbers, money, units and names", align="left")
    data = _write_files(out, {"train": corpus.train, "valid": corpus.valid, "test": corpus.test})
    with stop_on_signals() as stop:
        recipe = load_recipe(RECIPE, **data, from_language="en", to_language=locale)
        run = train_model(recipe, model, stop)
        finished = show(attend(run), console)
    tell_worth(finished.folder, console)
    translator = load(finished.folder.path)
    _score(translator, corpus.test, console)
    _translate_some(translator, corpus.test, console)
    _look_inside(load(model, engine="pytorch"), corpus.test, console)
    _show_shipped(console)
    _say_what_next(finished.folder, console)


def _write_files(out: Path, splits: dict[str, Sequence[Pair]]) -> dict[str, str]:
    make_folder(out)
    folder = out / "data"
    with folder_written_whole(folder) as partial:
        for name, pairs in splits.items():
            lines = (f"{source}\t{target}\n" for source, target in pairs)
            (partial / f"{name}.tsv").write_bytes("".join(lines).encode())
    return {"source": str(folder / "train.tsv"), "valid_source": str(folder / "valid.tsv")}


def _score(translator: Translator, test: Sequence[Pair], console: Console) -> None:
    sources, references = zip(*test, strict=True)
    translations = translator.translate(sources)
    console.rule(f"{len(test)} held-out items, none of them in training", align="left")
    say_scores(console, evaluate([t.text for t in translations], references))


def _translate_some(translator: Translator, test: Sequence[Pair], console: Console) -> None:
    console.rule("A few of them", align="left")
    named = [pair for pair in test if not _has_digit(pair)]
    numbered = [pair for pair in test if _has_digit(pair)]
    shown = [*named[:2], *numbered][:_SHOWN]
    translations = translator.translate([source for source, _ in shown])
    for translation, (_, reference) in zip(translations, shown, strict=True):
        mark = "[green]right[/green]" if translation.text == reference else "[red]wrong[/red]"
        source, text = escape(translation.source), escape(translation.text)
        say(console, f"  {source}  [dim]->[/dim]  {text}  {mark}")


def _look_inside(translator: Translator, test: Sequence[Pair], console: Console) -> None:
    assert isinstance(translator.engine, PyTorchEngine)
    long_enough = [pair for pair in test if len(pair[0]) >= _MAP_CHARACTERS]
    source, _ = min(long_enough or test, key=lambda pair: (not _has_digit(pair), len(pair[0])))
    target = translator.translate(source).text
    attention = source_attention(translator.engine.model, translator.tokenizer, source, target)
    console.rule(escape(f"Where it looked: {source} -> {target}"), align="left")
    console.print(attention_table(attention))


def _show_shipped(console: Console) -> None:
    """Translate a few sentences with the model that comes with heedful, if one does."""
    if USUAL not in shipped_models():
        return
    console.rule("And the model that comes with heedful, on everyday sentences", align="left")
    translator = load()
    for text, to_language in _EVERYDAY:
        translation = translator.translate(text, to_language=to_language)
        way = f"{translation.direction.from_language} to {to_language}"
        say(
            console,
            f"  {escape(text)}  [dim]->[/dim]  {escape(str(translation))}  [dim]{way}[/dim]",
        )


def _has_digit(pair: Pair) -> bool:
    return any(character.isdigit() for character in pair[0])


def _say_what_next(folder: ModelFolder, console: Console) -> None:
    console.rule("Your turn", align="left")
    say(
        console,
        f'  heedful translate {escape(str(folder.path))} "Tuesday, March 3, 2026, 4:05 PM"',
        f"  heedful info {escape(str(folder.path))}",
        "  heedful train --source yours.en --target yours.de --out model/",
    )
