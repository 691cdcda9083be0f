"""How good the model of several languages is: `make bench-everyday DATA=folder MODEL=folder`.

BLEU of every direction on test files that it never saw, greedily and as it searches by default; the
same into English without sentences whose other side is in training with another translation. Then
sentences as people type them, each with its right answers, written down before any output was seen.
"""

import argparse
import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from heedful import Translator, evaluate, load
from heedful.text.normalise import normalise

OTHERS = ("fr", "de", "es")


class Asked(NamedTuple):
    """A sentence, and all that is right for it; capitals and the end's mark aside."""

    way: str
    text: str
    right: tuple[str, ...]


def _asked(way: str, text: str, *right: str) -> Asked:
    return Asked(way, text, right)


SENTENCES = [
    _asked("fr-en", "je suis étudiant", "I am a student", "I'm a student"),
    _asked("fr-en", "merci", "thank you", "thanks"),
    _asked("en-fr", "I love you very much.", "Je t'aime beaucoup", "Je vous aime beaucoup",
           "Je t'aime énormément", "Je t'aime tellement", "Je t'aime très fort"),
    _asked("en-fr", "Your cat is a lovely cat.", "Ton chat est un chat adorable",
           "Votre chat est un chat adorable", "Ton chat est un beau chat",
           "Votre chat est un beau chat", "Ton chat est un joli chat",
           "Votre chat est un joli chat", "Ton chat est un chat charmant",
           "Ton chat est un adorable chat", "Votre chat est un adorable chat",
           "Votre chat est un chat charmant", "Ton chat est un chat magnifique"),
    _asked("en-fr", "The animal didn't cross the street because it was too tired.",
           "L'animal n'a pas traversé la rue parce qu'il était trop fatigué",
           "L'animal n'a pas traversé la rue car il était trop fatigué",
           "L'animal ne traversa pas la rue parce qu'il était trop fatigué",
           "L'animal ne traversa pas la rue car il était trop fatigué"),
    _asked("en-fr", "Thank you", "Merci", "Je te remercie", "Je vous remercie"),
    _asked("en-fr", "Where is the station?", "Où est la gare", "Où se trouve la gare"),
    _asked("en-fr", "good morning", "bonjour"),
    _asked("en-fr", "How are you?", "Comment vas-tu", "Comment allez-vous", "Comment ça va",
           "Ça va"),
    _asked("en-fr", "what time is it", "quelle heure est-il", "quelle heure il est"),
    _asked("en-fr", "I don't understand.", "Je ne comprends pas"),
    _asked("en-fr", "I'm hungry", "J'ai faim"),
    _asked("en-fr", "Can you help me?", "Peux-tu m'aider", "Pouvez-vous m'aider",
           "Pourrais-tu m'aider", "Pourriez-vous m'aider", "Est-ce que tu peux m'aider",
           "Est-ce que vous pouvez m'aider"),
    _asked("en-fr", "She is my sister.", "C'est ma sœur", "Elle est ma sœur", "C'est ma soeur"),
    _asked("en-fr", "I have two brothers.", "J'ai deux frères"),
    _asked("fr-en", "où est la gare", "where is the station", "where is the train station",
           "where's the station", "where's the train station"),
    _asked("fr-en", "Je ne sais pas.", "I don't know", "I do not know"),
    _asked("fr-en", "comment tu t'appelles", "what's your name", "what is your name"),
    _asked("fr-en", "J'ai froid.", "I'm cold", "I am cold", "I feel cold"),
    _asked("fr-en", "il pleut", "it's raining", "it is raining", "it rains"),
    _asked("fr-en", "Elle est plus grande que moi.", "She is taller than me",
           "She's taller than me", "She is taller than I am", "She's taller than I am",
           "She is taller than I", "She is bigger than me", "She's bigger than me"),
    _asked("en-de", "Thank you very much!", "Vielen Dank", "Danke sehr", "Herzlichen Dank",
           "Danke schön"),
    _asked("en-de", "i am tired", "ich bin müde"),
    _asked("en-de", "Where is the station?", "Wo ist der Bahnhof", "Wo befindet sich der Bahnhof"),
    _asked("en-de", "The house is very big.", "Das Haus ist sehr groß"),
    _asked("en-de", "What is your name?", "Wie heißt du", "Wie heißen Sie", "Wie ist dein Name",
           "Wie ist Ihr Name", "Wie lautet dein Name", "Wie heißt ihr"),
    _asked("en-de", "I love you.", "Ich liebe dich", "Ich liebe Sie", "Ich liebe euch",
           "Ich hab dich lieb"),
    _asked("en-de", "We are going home", "Wir gehen nach Hause", "Wir fahren nach Hause",
           "Wir gehen heim"),
    _asked("de-en", "guten Morgen", "good morning"),
    _asked("de-en", "Ich habe keine Zeit.", "I don't have time", "I have no time",
           "I don't have any time", "I haven't got time"),
    _asked("de-en", "wie spät ist es", "what time is it", "what's the time"),
    _asked("de-en", "Der Zug ist zu spät.", "The train is late", "The train is too late",
           "The train's late"),
    _asked("de-en", "Kannst du schwimmen?", "Can you swim", "Do you know how to swim"),
    _asked("en-es", "good night", "buenas noches"),
    _asked("en-es", "I want to learn Spanish.", "Quiero aprender español"),
    _asked("en-es", "Where do you live?", "Dónde vives", "Dónde vive usted", "Dónde viven ustedes",
           "Dónde viven", "Dónde vive", "Dónde vivís"),
    _asked("en-es", "the book is on the table", "el libro está sobre la mesa",
           "el libro está en la mesa", "el libro está encima de la mesa"),
    _asked("en-es", "How much does it cost?", "Cuánto cuesta", "Cuánto vale"),
    _asked("es-en", "gracias", "thank you", "thanks"),
    _asked("es-en", "donde esta el baño", "where is the bathroom", "where's the bathroom",
           "where is the toilet", "where is the restroom", "where's the toilet"),
    _asked("es-en", "No tengo dinero.", "I don't have any money", "I have no money",
           "I don't have money"),
    _asked("es-en", "me gusta el café", "I like coffee", "I like the coffee"),
    _asked("es-en", "Ella no quiere venir.", "She doesn't want to come",
           "She does not want to come"),
    _asked("fr-de", "merci beaucoup", "vielen Dank", "danke sehr", "danke vielmals",
           "danke schön", "herzlichen Dank"),
    _asked("de-es", "Ich bin müde.", "Estoy cansado", "Estoy cansada", "Tengo sueño"),
    _asked("es-fr", "¿Dónde está la estación?", "Où est la gare", "Où se trouve la gare",
           "Où est la station", "Où se trouve la station"),
    _asked("fr-es", "Je t'aime.", "Te amo", "Te quiero", "Yo te amo", "Yo te quiero"),
]  # fmt: skip


def main() -> None:
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with en-fr.test.tsv.gz and the like")
    parser.add_argument("model", type=Path, nargs="?", help="else the one that comes with heedful")
    arguments = parser.parse_args()
    translator = load(arguments.model)
    ask(translator)
    tell_languages(translator, arguments.data)
    for beam_size in (1, translator.search.beam_size):
        score(translator, arguments.data, beam_size)


def ask(translator: Translator) -> None:
    """Ask the sentences, and show what is not among the right answers."""
    wrong = []
    for way, text, right in SENTENCES:
        from_language, to_language = way.split("-")
        found = translator.translate(text, from_language=from_language, to_language=to_language)
        if not is_right(found.text, right):
            wrong.append(f"  {way}  {text}  ->  {found.text}")
    print(f"Sentences: {len(SENTENCES) - len(wrong)} of {len(SENTENCES)} as written down; else:")
    print("\n".join(wrong), flush=True)


def is_right(text: str, right: Sequence[str]) -> bool:
    """Whether a translation is one of the right ones, capitals and the end's mark aside."""
    return _bare(text) in map(_bare, right)


def tell_languages(translator: Translator, data: Path) -> None:
    """Print how often the language of a test sentence is told, and of short ones."""
    sentences = {
        (code, text)
        for other in OTHERS
        for pair in _pairs(data / f"en-{other}.test.tsv.gz")
        for code, text in zip(("en", other), pair, strict=True)
    }
    short = {(code, text) for code, text in sentences if len(text.split()) <= 3}
    for name, some in (("all", sentences), ("up to three words", short)):
        told = [(code, translator.guess(text)) for code, text in some]
        right = sum(bool(guess) and guess[0].language == code for code, guess in told)
        none = sum(not guess for _, guess in told)
        print(f"Language, {name}: {right / len(told):.2%} of {len(told):,} right, {none} in none")


def score(translator: Translator, data: Path, beam_size: int) -> None:
    """Print BLEU and chrF of every direction."""
    for other in OTHERS:
        test = _pairs(data / f"en-{other}.test.tsv.gz")
        known = {target for _, target in _pairs(data / f"en-{other}.train.tsv.gz")}
        back = [(target, source) for source, target in test]
        unseen = [pair for pair in back if pair[0] not in known]
        for way, pairs in (
            (f"en-{other}", test),
            (f"{other}-en", back),
            (f"{other}-en unseen", unseen),
        ):
            from_language, to_language = way.split()[0].split("-")
            found = translator.translate(
                [source for source, _ in pairs],
                from_language=from_language,
                to_language=to_language,
                beam_size=beam_size,
            )
            bleu, chrf, *_ = evaluate([it.text for it in found], [ref for _, ref in pairs])
            print(
                f"{way:12}  beam {beam_size}  {len(pairs):5}  "
                f"BLEU {bleu.value:.1f}  chrF {chrf.value:.1f}",
                flush=True,
            )
    print(f"{bleu.signature}; {chrf.signature}")


def _pairs(path: Path) -> Sequence[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(_columns(file))


def _columns(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        source, target, *_ = line.rstrip("\n").split("\t")
        yield source, target


def _bare(text: str) -> str:
    return normalise(text).casefold().strip(" .!?¿¡…").replace("’", "'")


if __name__ == "__main__":
    main()
