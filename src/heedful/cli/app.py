"""The command line: one short function per verb. Whatever is heavy is imported inside."""

import re
import shlex
import sys
from collections import deque
from collections.abc import Sequence
from itertools import chain, pairwise, tee
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from heedful import __version__
from heedful.cli.data import data_app
from heedful.errors import ConfigError, missing_extra, refuse_other


class _InterruptedError(Exception):
    """Carries Ctrl-C past typer, which would end the program in its own way."""


class _Verbs(TyperGroup):
    """The verbs, whose interruption is the program's own matter."""

    def invoke(self, ctx: Any) -> Any:
        """Run the verb that was named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _InterruptedError from error


class _OptionsAlone(TyperCommand):
    """A verb that takes options alone, and files without one only to say what to type."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Tell how it is called."""
        return ["[OPTIONS]"]


app = typer.Typer(
    cls=_Verbs,
    help="Train, look inside and ship the Transformer of 'Attention Is All You Need'.",
    epilog="Try it: heedful demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_app, name="data")

ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A model folder, as written by `heedful train`.")
]
MODEL_OR_SHIPPED = "A model folder; without one, the model that comes with heedful."
AnyModelArgument = Annotated[Path | None, typer.Argument(metavar="[MODEL]", help=MODEL_OR_SHIPPED)]
BeamOption = Annotated[
    int | None,
    typer.Option("--beam", help="Hypotheses kept at every step; 1 is greedy and fastest."),
]
AlphaOption = Annotated[
    float | None,
    typer.Option("--alpha", help="Length penalty ((5+n)/6)^alpha: higher favours longer output."),
]
EngineOption = Annotated[
    str | None,
    typer.Option("--engine", help="ctranslate2, exact (the same, not rounded) or pytorch."),
]
FromOption = Annotated[
    str,
    typer.Option("--from", help="The language of the text, such as en; else the text tells."),
]
ToOption = Annotated[str, typer.Option("--to", help="The language to translate to, such as fr.")]
FastOption = Annotated[
    bool, typer.Option("--fast", help="Score likely pieces alone: for many lines at once.")
]


def _show_version(wanted: bool | None) -> None:
    if wanted:
        print(f"heedful {__version__}")
        raise typer.Exit


@app.callback()
def _heedful(
    version: Annotated[
        bool | None,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = None,
) -> None: ...


@app.command(cls=_OptionsAlone)
def train(
    files: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    source: Annotated[
        str, typer.Option(help="Sentences to translate from, one a line; or a TSV of pairs.")
    ] = "",
    target: Annotated[str, typer.Option(help="Their translations, line by line.")] = "",
    out: Annotated[Path, typer.Option(help="The model folder to write.")] = Path("model"),
    recipe: Annotated[
        str,
        typer.Option(
            help="A TOML file, or one by name: default (for small corpora and no GPU), paper (the "
            "base model as printed, for GPUs), tiny, multi30k-en-de, everyday, demo."
        ),
    ] = "default",
    valid_source: Annotated[
        str, typer.Option(help="Sentences to validate on; else some pairs are held out.")
    ] = "",
    valid_target: Annotated[str, typer.Option(help="Their translations.")] = "",
    from_: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            help="The source's language, such as en; x.en tells it too. Or a model to go on from: "
            "its folder, or its name. May be given twice.",
        ),
    ] = None,
    to_language: Annotated[str, typer.Option("--to", help="The target's language.")] = "",
    data: Annotated[
        Path | None, typer.Option(help="The folder of the files that the recipe itself names.")
    ] = None,
    mix: Annotated[
        float | None,
        typer.Option(help="With a model to go on from: the share of old pairs, usually 0.5."),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(help="Time for all of it; size and schedule are chosen to make use of it."),
    ] = None,
) -> None:
    """Train a translator from two text files, or one TSV, into a model folder.

    Files are UTF-8, plain or .gz. Line n of one translates line n of the other.
    Interrupted by Ctrl-C or worse, the same command goes on. Every choice that
    was made is in recipe.toml in the model folder; change a copy for --recipe.

    How long it takes, as measured on two cores:
    - 20,000 pairs of short phrases, recipe demo: 2 minutes, 98 % exactly right
    - 29,000 captions of pictures: BLEU 28 with --minutes 3
    - the same, recipe multi30k-en-de: BLEU 40 with --minutes 30
    - 174,000 everyday sentences: BLEU 32 with --minutes 12, on one core
    News and books want a million pairs and a GPU. From fewer than some hundred
    pairs hardly anything is learned.

    heedful train --source train.en --target train.de --out model/ --minutes 60

    heedful train --from model/ --source more.en --target more.de --out better/ --minutes 10
    """
    from heedful.runs.budget import Stopwatch

    stopwatch = Stopwatch()
    _refuse_unnamed(files or ())
    _require_train_extra()
    from heedful.cli.display import show
    from heedful.cli.info import tell_worth
    from heedful.cli.terminal import say
    from heedful.machine.processes import join
    from heedful.machine.signals import stop_on_signals
    from heedful.runs.doctor import attend
    from heedful.runs.recipe import load_recipe
    from heedful.runs.train import train_model

    from_language, parent = _language_and_model(from_ or ())
    if mix is not None and not parent:
        raise ConfigError("--mix is for a model to go on from; name it: --from model/")
    files_given = {
        "source": source,
        "target": target,
        "valid_source": valid_source,
        "valid_target": valid_target,
        "from_language": from_language,
        "to_language": to_language,
    }
    # Signals outermost: torchrun sends one to those who lost another, and they should say so first.
    with stop_on_signals() as stop, join() as processes:
        chosen = processes.by_first(load_recipe, recipe, data or "", **files_given)
        if parent:
            chosen = processes.by_first(chosen.going_on_from, parent, 0.5 if mix is None else mix)
        if minutes is not None:
            chosen = chosen.within(minutes)
        run = train_model(chosen, out, stop, processes, stopwatch)
        if processes.is_first:
            console = Console()
            tell_worth(show(attend(run), console).folder, console)
            say(console, f'Ready: heedful translate {escape(str(out))} "..."')
        else:
            deque(run, maxlen=0)  # takes its part in every step, and tells nobody


@app.command()
def translate(
    model: AnyModelArgument = None,
    text: Annotated[
        list[str] | None, typer.Argument(help="Text to translate; without it, lines are read.")
    ] = None,
    input: Annotated[
        Path | None, typer.Option("--input", "-i", help="A file to read, plain or .gz.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file to write instead of the screen.")
    ] = None,
    from_language: FromOption = "",
    to_language: ToOption = "",
    beam: BeamOption = None,
    alpha: AlphaOption = None,
    engine: EngineOption = None,
    fast: FastOption = False,
    n_best: Annotated[
        int, typer.Option(help="Show so many candidates per line, each with its score.")
    ] = 1,
    glossary: Annotated[
        Path | None,
        typer.Option(help="A TSV of terms and their translations; without one, a term stays."),
    ] = None,
    replace_invalid: Annotated[
        bool, typer.Option("--replace-invalid", help="Read bytes that are not UTF-8 as U+FFFD.")
    ] = False,
    format: Annotated[
        str, typer.Option(help="text; or tsv or jsonl, with confidence and alignment of words.")
    ] = "text",
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Translate in conversation.")
    ] = False,
    prefix: Annotated[str, typer.Option(help="What each translation is to begin with.")] = "",
    temperature: Annotated[
        float | None,
        typer.Option(help="Draw by chance: below 1 the likely is likelier, above 1 less so."),
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(help="Draw from so many of the likeliest pieces.")
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Draw from the likeliest pieces of this probability.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draw the same as the last time.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a file that was interrupted.")
    ] = False,
) -> None:
    """Translate text, a file, or whatever is piped in, line by line and in order.

    heedful translate --to fr "Good morning!"

    heedful translate model/ --input letters.en --output letters.de

    cat letters.en | heedful translate model/ > letters.de

    heedful translate model/ --interactive
    """
    from heedful.cli.translate import Task
    from heedful.cli.translate import translate as run
    from heedful.decoding.hypothesis import sampling_of
    from heedful.storage.shipped import model_and_texts
    from heedful.text.glossary import read_glossary
    from heedful.translation.options import Options

    options = Options(
        from_language=from_language,
        to_language=to_language,
        beam_size=beam,
        alpha=alpha,
        n_best=n_best,
        glossary=read_glossary(glossary) if glossary else None,
        prefix=prefix,
        sampling=sampling_of(temperature=temperature, top_k=top_k, top_p=top_p, seed=seed),
    )
    folder, texts = model_and_texts([*([str(model)] if model else []), *(text or [])])
    run(
        Task(
            model=folder,
            texts=texts,
            input=input,
            output=output,
            engine=engine,
            fast=fast,
            replace_invalid=replace_invalid,
            format=format,
            interactive=interactive,
            resume=resume,
            options=options,
            glossary_file=glossary,
        )
    )


@app.command()
def evaluate(
    source: Annotated[
        Path, typer.Option(help="Sentences to translate, one a line; or a TSV of pairs.")
    ],
    model: AnyModelArgument = None,
    target: Annotated[Path | None, typer.Option(help="Their reference translations.")] = None,
    from_language: FromOption = "",
    to_language: ToOption = "",
    beam: BeamOption = None,
    alpha: AlphaOption = None,
    engine: EngineOption = None,
    fast: FastOption = False,
    tokenize: Annotated[
        str, typer.Option(help="sacrebleu's tokenizer for BLEU: 13a, none, zh, ja-mecab, ...")
    ] = "13a",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file to write the translations to.")
    ] = None,
) -> None:
    """Score a model on a test set: BLEU, chrF, TER and exact match, each with its signature.

    heedful evaluate model/ --source test.en --target test.de
    """
    from heedful.cli.terminal import say_scores
    from heedful.data.corpus import read_pairs
    from heedful.evaluation import bleu_metric, evaluate
    from heedful.storage.shipped import model_path
    from heedful.translation.files import write_lines
    from heedful.translation.translator import load

    bleu_metric(tokenize)  # refused before the work, not after
    sources, references = zip(*read_pairs(source, target), strict=True)
    translator = load(model, engine, fast=fast)
    translations = translator.translate_lines(
        sources,
        from_language=from_language,
        to_language=to_language,
        beam_size=beam,
        alpha=alpha,
    )
    texts, written = tee(map(str, translations))
    if output:
        write_lines(output, written, [model_path(model), source, *([target] if target else [])])
    say_scores(Console(), evaluate(list(texts), references, tokenize=tokenize))


@app.command()
def diversify(
    model: ModelArgument,
    backward: Annotated[
        Path,
        typer.Argument(metavar="BACKWARD", help="One trained with source and target exchanged."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The TSV of pairs to write.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a file that was interrupted.")
    ] = False,
) -> None:
    """Write the pairs a model learned from, and more: each side with its translation.

    A model that learns from all of them is often better than the one that made them.

    heedful diversify en-de/ de-en/ --output more.tsv

    heedful train --source more.tsv --valid-source en-de/training/corpus/valid.tsv --out better/
    """
    from heedful.runs.diversify import diversify as run

    run(model, backward, output, resume=resume)


@app.command()
def export(
    model: ModelArgument,
    format: Annotated[
        str, typer.Option(help="ctranslate2, which translates here, or onnx for other runtimes.")
    ] = "ctranslate2",
) -> None:
    """Write a model into its folder as another runtime wants it.

    Training does so for CTranslate2 when it ends; this makes it again.

    heedful export model/ --format onnx
    """
    _require_train_extra()
    from heedful.cli.terminal import say
    from heedful.storage.folder import ModelFolder

    refuse_other("--format", format, ("ctranslate2", "onnx"))
    if format == "onnx":
        from heedful.interop.onnx import export_onnx as export_model
    else:
        from heedful.interop.ctranslate2 import export_ctranslate2 as export_model
    say(Console(), f"Written: {escape(str(export_model(ModelFolder(model))))}")


@app.command()
def pack(
    model: ModelArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write, such as model.zip.")
    ],
    with_weights: Annotated[
        bool,
        typer.Option(
            "--with-weights", help="Keep what translating does not need: PyTorch's weights, ONNX."
        ),
    ] = False,
    with_examples: Annotated[
        bool, typer.Option("--with-examples", help="Keep the sentences that the card shows.")
    ] = False,
    small: Annotated[
        bool,
        typer.Option(
            "--small", help="Round weights: int8 for translating, float16 for all else, both kept."
        ),
    ] = False,
) -> None:
    """Write a model into one file to give away: all that translating needs, and none of your text.

    What stays is what was made of your text: scores, names of files, a vocabulary of pieces of
    words, and weights, which may know by heart what they were shown often.

    heedful pack model/ --output model.zip
    """
    from heedful.cli.terminal import say
    from heedful.runs.pack import pack as run
    from heedful.storage.card import size
    from heedful.storage.folder import ModelFolder

    folder, console = ModelFolder(model), Console()
    if small:
        _require_train_extra()
    packed = run(
        folder, output, with_weights=with_weights, with_examples=with_examples, small=small
    )
    name = escape(str(packed.path))
    say(
        console,
        f"Packed: {name}, {size(packed.num_bytes)}, without your text and where it lay",
        f"Look:   heedful info {name}",
        f'Use:    unzip {name} && heedful translate {escape(packed.path.stem)} "..."',
    )
    if packed.is_card_as_it_was:
        say(
            console,
            "Its README.md is as it was, changed by hand or of another version: see what it shows",
        )


@app.command()
def info(model: AnyModelArgument = None) -> None:
    """Tell what a model folder or a packed one holds, what it is worth, and whether it is whole.

    heedful info model/

    heedful info model.zip
    """
    from heedful.cli.info import info_table, tell_worth
    from heedful.runs.pack import opened
    from heedful.storage.checksums import compare
    from heedful.storage.shipped import model_path

    console = Console()
    with opened(model_path(model)) as folder:
        config, comparison = folder.config(), compare(folder)
        tell_worth(folder, console)
        console.print(info_table(config, folder.provenance(), comparison))
        comparison.refuse_changed(folder)


@app.command()
def models() -> None:
    """List the models that come with heedful.

    heedful models
    """
    from heedful.cli.info import models_table
    from heedful.storage.shipped import shipped_models

    Console().print(models_table(shipped_models()))


@app.command()
def explain(
    model: AnyModelArgument = None,
    text: Annotated[str, typer.Argument(help="A sentence; a page begins with it.")] = "",
    out: Annotated[
        Path | None, typer.Option(help="Write this page (.html), picture (.svg) or data (.json).")
    ] = None,
    translation: Annotated[
        str | None, typer.Option(help="Read this translation instead of the model's own.")
    ] = None,
    to_language: ToOption = "",
    open: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
) -> None:
    """Look inside: print how a sentence is translated, or write the model into a page.

    A page is one HTML file that translates in any browser, offline, and shows every step of it.

    heedful explain model/ "Good morning!"

    heedful explain model/ "Good morning!" --out page.html --open
    """
    from heedful.cli.explain import explain_text
    from heedful.storage.folder import ModelFolder
    from heedful.storage.shipped import model_and_texts

    folder, texts = model_and_texts([*([str(model)] if model else []), *([text] if text else [])])
    explain_text(
        ModelFolder(folder), " ".join(texts), out, translation, to_language, is_opened=open
    )


@app.command()
def paper(
    name: Annotated[
        str, typer.Argument(help="table1, figure3, positions, ...; without it, all are listed.")
    ] = "",
    model: Annotated[
        Path | None, typer.Option(help="A model folder, for what looks into one.")
    ] = None,
    text: Annotated[str, typer.Option(help="A sentence to look at.")] = "",
    source: Annotated[str, typer.Option(help="Sentences to train on; else the demo's.")] = "",
    target: Annotated[str, typer.Option(help="Their translations.")] = "",
    valid_source: Annotated[str, typer.Option(help="Sentences to validate on.")] = "",
    valid_target: Annotated[str, typer.Option(help="Their translations.")] = "",
    trees: Annotated[Path | None, typer.Option(help="A folder of bracketed trees.")] = None,
    size: Annotated[str, typer.Option(help="The preset that is the base: mini, tiny, ...")] = "",
    seeds: Annotated[int, typer.Option(help="Trainings of each row of a table.")] = 1,
    minutes: Annotated[float | None, typer.Option(help="Time for all of it.")] = None,
    out: Annotated[Path, typer.Option(help="The folder to write tables and pictures to.")] = Path(
        "paper"
    ),
) -> None:
    """Measure a table or a figure of the paper here, beside the printed numbers.

    heedful paper table1

    heedful paper figure3 --model model/

    heedful paper all --minutes 30
    """
    _require_train_extra()
    from heedful.cli.paper import measure, tell_names
    from heedful.paper.request import Request

    if not name:
        tell_names()
        return
    measure(
        Request(
            name=name,
            out=out,
            model=model,
            text=text,
            trees=trees,
            source=source,
            target=target,
            valid_source=valid_source,
            valid_target=valid_target,
            minutes=minutes,
            size=size,
            seeds=seeds,
        )
    )


@app.command()
def serve(
    models: Annotated[
        list[Path] | None, typer.Argument(metavar="MODEL...", help="Model folders to serve.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; 0.0.0.0 is everywhere.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes one that is free.")] = 5000,
    keys: Annotated[
        Path | None, typer.Option(help="Serve those alone who have a key of this file.")
    ] = None,
    from_language: Annotated[
        str, typer.Option("--from", help="The source's language, if the model does not say it.")
    ] = "",
    to_language: Annotated[str, typer.Option("--to", help="The target's language.")] = "",
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A web site whose pages may ask, such as https://a.b")
    ] = None,
    proxy_headers: Annotated[
        bool, typer.Option("--proxy-headers", help="Believe a proxy before it who is asking.")
    ] = False,
    characters: Annotated[int, typer.Option(help="Characters of a request, at most.")] = 100_000,
    batch: Annotated[int, typer.Option(help="Texts of a request, at most.")] = 1_000,
    alternatives: Annotated[int, typer.Option(help="Alternatives of a text, at most.")] = 10,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at every step, at most.")] = 16,
    seconds: Annotated[int, typer.Option(help="A request may take so long.")] = 60,
    file: Annotated[int, typer.Option(help="Bytes of a file, at most.")] = 20_000_000,
    waiting: Annotated[
        int, typer.Option(help="Characters that may wait; who comes then is told when to come.")
    ] = 500_000,
    cache: Annotated[
        int, typer.Option(help="Sentences whose translation is remembered; 0 is none.")
    ] = 10_000,
) -> None:
    """Translate for others over HTTP, for clients of LibreTranslate and DeepL and our own.

    Without a model it serves the one that comes with heedful.

    heedful serve en-de/ de-en/

    curl http://127.0.0.1:5000/translate -d q="Good morning!" -d source=en -d target=de
    """
    from heedful.cli.serve import serve as run
    from heedful.server.limits import Limits
    from heedful.server.place import Place

    limits = Limits(
        characters=characters,
        batch=batch,
        alternatives=alternatives,
        beam=beam,
        seconds=seconds,
        file=file,
        waiting=waiting,
        cache=cache,
    )
    place = Place(
        host=host, port=port, allow_origins=tuple(allow_origin or ()), proxy_headers=proxy_headers
    )
    run(models or [], limits, place, keys, (from_language, to_language))


keys_app = typer.Typer(help="Keys of those who may use a server.", no_args_is_help=True)
app.add_typer(keys_app, name="keys")
KeysArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file of keys.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is.")]


@keys_app.command("add")
def keys_add(
    file: KeysArgument,
    name: NameArgument,
    requests_per_minute: Annotated[
        int | None, typer.Option(help="Requests in a minute, at most.")
    ] = None,
    characters_per_day: Annotated[
        int | None, typer.Option(help="Characters in a day, at most.")
    ] = None,
) -> None:
    """Make a key, and show it this once; the file holds what it hashes to.

    heedful keys add keys.json anna --characters-per-day 100000
    """
    from heedful.server.keys import KeyFile

    limits = {"requests_per_minute": requests_per_minute, "characters_per_day": characters_per_day}
    print(KeyFile(file).add(name, **limits))


@keys_app.command("list")
def keys_list(file: KeysArgument) -> None:
    """List whose keys there are, and what each may use."""
    from heedful.cli.serve import show_keys

    show_keys(file, Console())


@keys_app.command("remove")
def keys_remove(file: KeysArgument, name: NameArgument) -> None:
    """Remove a key; a server that is running heeds it at once."""
    from heedful.server.keys import KeyFile

    KeyFile(file).remove(name)


@app.command()
def demo(
    locale: Annotated[
        str, typer.Option(help="Translate from English to this: fr, de, ja, pt_BR, ...")
    ] = "fr",
    out: Annotated[Path, typer.Option(help="A folder for corpus and model.")] = Path("demo"),
) -> None:
    """Train a translator from nothing in two minutes, score it, and look inside.

    The corpus is generated from CLDR: dates, times, numbers, money, units, countries and
    languages, from English into any locale, so that every sentence has one right answer.

    heedful demo --locale ja
    """
    _require_train_extra()
    from heedful.cli.demo import run_demo

    run_demo(out, locale, Console())


def _refuse_unnamed(files: Sequence[str]) -> None:
    """Tell what to type to whoever names files to train on without saying what they are."""
    if files:
        named = chain(*zip(("--source", "--target"), files, strict=False))
        raise ConfigError(
            f"'{files[0]}' is given without saying what it is; type: "
            f"heedful train {shlex.join(named)}" + " ..." * (len(files) > 2)
        )


def _language_and_model(given: Sequence[str]) -> tuple[str, str]:
    """Tell which of what --from was given is a language, and which a model to go on from."""
    from heedful.data.languages import is_code
    from heedful.storage.shipped import shipped_models

    models = [
        it
        for it in given
        if not is_code(it) or (Path(it) / "config.json").exists() or it in shipped_models()
    ]
    languages = [it for it in given if it not in models]
    if len(models) > 1 or len(languages) > 1:
        raise ConfigError(
            f"--from takes one language and one model to go on from, got {', '.join(given)}"
        )
    return "".join(languages), "".join(models)


def _require_train_extra() -> None:
    from importlib.util import find_spec

    for name in ("torch", "jaxtyping", "babel"):
        if find_spec(name) is None:
            raise missing_extra("training", name)


def _refuse_text_as_option(arguments: Sequence[str]) -> None:
    """Refuse text such as "-i am here", which would be taken for a file to read."""
    for before, argument in pairwise(arguments):
        if argument == "--":
            return
        if re.match(r"-[a-zA-Z]\s", argument) and not before.startswith("-"):
            raise ConfigError(
                f"'{argument}' would be read as the option {argument[:2]}; text that begins with - "
                "goes after --"
            )


def run() -> None:
    """Run the verb that was named; a command that cannot be understood is an error like others."""
    _refuse_text_as_option(sys.argv[1:])
    try:
        app(standalone_mode=False, prog_name="heedful")
    except (_InterruptedError, typer.Abort) as error:
        raise KeyboardInterrupt from error
    except TyperException as error:
        if not (message := error.format_message()):
            sys.exit(2)  # the help was shown, for lack of a verb
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "heedful"
        hint = "; text that begins with - goes after --" if "No such option" in message else ""
        raise ConfigError(f"{message.rstrip('.')}{hint}; see: {command} --help") from error
