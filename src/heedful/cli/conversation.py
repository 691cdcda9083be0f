"""Translating in conversation: a line in, its translation out, and questions about it."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heedful.errors import HeedfulError
from heedful.translation.details import Details
from heedful.translation.options import Options
from heedful.translation.translator import Translation, Translator

_HELP = (
    "Write a sentence to translate it; words the model doubts are coloured. "
    ":words tells of each word where it is from and how sure it is, "
    ":3 finds other words for the third, :quit or Ctrl-D leaves."
)


def converse(translator: Translator, console: Console, options: Options) -> None:
    """Translate line by line until the user leaves."""
    console.print(_HELP, style="dim", highlight=False)
    last: Translation | None = None
    while True:
        try:
            line = console.input("[bold]> [/bold]").strip()
        except UnicodeDecodeError as error:
            console.print(f"this is not UTF-8: {error.object!r}", style="red", highlight=False)
            continue
        except (EOFError, KeyboardInterrupt):
            console.print()
            return
        if line in (":quit", ":q"):
            return
        try:
            if line.startswith(":"):
                _answer(line[1:], last, translator, console, options)
            elif line:
                last = translator.translate(line, options)
                console.print(shaded(last), soft_wrap=True)
                if last.flags:
                    console.print(f"flagged: {', '.join(last.flags)}", style="dim")
        except HeedfulError as error:
            console.print(str(error), style="red", highlight=False, markup=False)


def shaded(translation: Translation) -> Text:
    """Colour the words of a translation by how sure the model is of them."""
    text, at = Text(translation.text), 0
    details = translation.details or Details()
    for word, confidence in zip(details.words, details.confidences, strict=True):
        start = translation.text.find(word, at)
        if start >= 0:
            at = start + len(word)
            text.stylize(_style(confidence), start, at)
    return text


def _answer(
    question: str,
    last: Translation | None,
    translator: Translator,
    console: Console,
    options: Options,
) -> None:
    details = last.details if last and last.details else Details()
    if last and question == "words":
        console.print(_word_table(details))
    elif last and question in map(str, range(1, len(details.words) + 1)):
        for other in translator.alternatives(last, int(question) - 1, options):
            console.print(Text.assemble((f"{other.word}  ", "bold"), other.text), soft_wrap=True)
    else:
        console.print(_HELP, style="dim", highlight=False)


def _word_table(details: Details) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    from_words = {word: source for source, word in details.alignment}
    for number, word in enumerate(details.words):
        confidence = details.confidences[number]
        source = details.source_words[from_words[number]] if number in from_words else ""
        table.add_row(
            str(number + 1), Text(word, _style(confidence)), Text(source), f"{confidence:.0%}"
        )
    return table


def _style(confidence: float) -> str:
    if confidence >= 0.7:
        return ""
    return "yellow" if confidence >= 0.3 else "red"
