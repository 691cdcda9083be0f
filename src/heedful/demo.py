"""From nothing to a translator in two minutes: the corpus that ships with the program."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from heedful.data.embedded import Pair, generate
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.decoding.translator import Translator, load
from heedful.display import show
from heedful.doctor import attend
from heedful.evaluation import evaluate
from heedful.explain.source_attention import attention_table, source_attention
from heedful.folder import ModelFolder
from heedful.recipe import load_recipe
from heedful.run import train_model
from heedful.terminal import say, score_lines

_SHOWN = 8


def run_demo(out: Path, locale: str, console: Console) -> None:
    """Generate the embedded corpus, train on it, score, translate and look inside."""
    console.rule(f"English to '{locale}': dates, numbers, money, units and names", align="left")
    corpus = generate(locale)
    model = out / "model"
    data = _write_files(out, {"train": corpus.train, "valid": corpus.valid, "test": corpus.test})
    run = train_model(load_recipe("demo", **data), model)
    finished = show(attend(run, ModelFolder(model)), console)
    translator = load(finished.folder.path)
    _score(translator, corpus.test, console)
    _translate_some(translator, corpus.test, console)
    _look_inside(translator, corpus.test, console)
    _say_what_next(finished.folder, console)


def _write_files(out: Path, splits: dict[str, Sequence[Pair]]) -> dict[str, str]:
    out.mkdir(parents=True, exist_ok=True)
    for name, pairs in splits.items():
        lines = (f"{source}\t{target}\n" for source, target in pairs)
        (out / f"{name}.tsv").write_text("".join(lines), encoding="utf-8", newline="\n")
    return {"source": str(out / "train.tsv"), "valid_source": str(out / "valid.tsv")}


def _score(translator: Translator, test: Sequence[Pair], console: Console) -> None:
    sources, references = zip(*test, strict=True)
    translations = translator.translate(sources)
    console.rule(f"{len(test)} held-out items, none of them in training", align="left")
    say(console, *score_lines(evaluate([t.text for t in translations], references)))


def _translate_some(translator: Translator, test: Sequence[Pair], console: Console) -> None:
    console.rule("A few of them", align="left")
    for translation, (_, reference) in zip(
        translator.translate([source for source, _ in test[:_SHOWN]]), test[:_SHOWN], strict=True
    ):
        mark = "[green]right[/green]" if translation.text == reference else "[red]wrong[/red]"
        say(console, f"  {translation.source}  [dim]->[/dim]  {translation.text}  {mark}")


def _look_inside(translator: Translator, test: Sequence[Pair], console: Console) -> None:
    assert isinstance(translator.engine, PyTorchEngine)
    source = min((source for source, _ in test if len(source) >= 24), key=len)
    target = translator.translate(source).text
    attention = source_attention(translator.engine.model, translator.tokenizer, source, target)
    console.rule(f"Where it looked: {source} -> {target}", align="left")
    console.print(attention_table(attention))


def _say_what_next(folder: ModelFolder, console: Console) -> None:
    console.rule("Your turn", align="left")
    say(
        console,
        f'  heedful translate {folder.path} "Tuesday, March 3, 2026, 4:05 PM"',
        f"  heedful info {folder.path}",
        "  heedful train --source yours.en --target yours.de --out model/",
    )
