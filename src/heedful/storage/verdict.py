"""What a model is worth in words: a rule of thumb, by BLEU and by the pairs behind it."""

from heedful.storage.provenance import Provenance

# The only place with numbers; docs/decisions/0031 says why.
_LEVELS = (  # BLEU from which on, and what can be said of text like that of the training
    (40.0, "good on text like {known}"),
    (30.0, "usable on text like {known}, if somebody reads it over"),
    (20.0, "gives the gist of text like {known}; few sentences are right as they are"),
    (10.0, "a beginning: many words are right, and hardly a sentence is"),
    (0.0, "not usable yet: most sentences are wrong"),
)
_FEW_LEARNED = 10_000  # training pairs, beyond which most words lie
_FEW_JUDGED = 100  # validation pairs, which tell BLEU to some ten points only
_LONGEST_WORD = 12  # characters between two spaces, on the mean of a text; languages with spaces: 9


def verdict(provenance: Provenance, *, known: str = "yours") -> str:
    """Say what a model is good for; `known` is what the text it was trained on is called."""
    data = provenance.data
    if _has_no_spaces(provenance):
        return (
            "not to be told by BLEU, which counts words, as its language has no spaces between "
            "them; heedful evaluate --tokenize zh or char tells more"
        )
    bleu = next((score.value for score in provenance.scores if score.name == "BLEU"), 0.0)
    words = next(words for from_bleu, words in _LEVELS if bleu >= from_bleu)
    parts = [words.format(known=known)]
    if data.train_pairs < _FEW_LEARNED:
        parts.append(f"what its {data.train_pairs:,} pairs do not hold, it does not know")
    if data.valid_pairs < _FEW_JUDGED:
        parts.append(f"and {data.valid_pairs:,} pairs are few to judge it by")
    return "; ".join(parts)


def _has_no_spaces(provenance: Provenance) -> bool:
    references = [example.reference for example in provenance.examples]
    num_words = sum(len(reference.split()) for reference in references)
    return sum(map(len, references)) > _LONGEST_WORD * max(num_words, 1)
