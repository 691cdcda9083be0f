"""Text to piece ids and back: SentencePiece BPE, one vocabulary for both languages."""

import codecs
import io
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import sentencepiece

from heedful.errors import ConfigError, ModelFolderError
from heedful.specials import BOS, EOS, PAD, UNK
from heedful.text.normalise import normalise, refuse_halves

_FIRST_TAG = 4  # after the reserved ids
_NUM_RESERVED = 4 + 256  # byte fallback gives every byte a piece, so no character is ever lost
_TAG = re.compile(r">>(.+)<<")  # as OPUS-MT spells the language to translate to
_SMALLEST = 320
_LARGEST = 1 << 20
_SPACE = "\u2581"  # SentencePiece writes a space so; the character itself goes in as its bytes
_MOST_TEXTS = 4_000_000  # the first so many: SentencePiece holds them all in memory


@dataclass(frozen=True, kw_only=True)
class TokenizerConfig:
    """How the vocabulary is built."""

    vocab_size: int = 0
    """Pieces shared by source and target (section 5.1: about 37,000); 0 chooses by the corpus."""

    def __post_init__(self) -> None:
        if self.vocab_size > _LARGEST:
            raise ConfigError(f"vocab_size must be at most {_LARGEST:,}, got {self.vocab_size:,}")
        if self.vocab_size and self.vocab_size < _SMALLEST:
            raise ConfigError(
                f"vocab_size must be at least {_SMALLEST} ({_NUM_RESERVED} go to bytes and "
                f"reserved ids), got {self.vocab_size}; 0 chooses one from the corpus"
            )


class Vocabulary(NamedTuple):
    """All that cutting text into pieces goes by, for programs that have no SentencePiece."""

    pieces: list[str]
    scores: list[float]
    """The higher, the sooner a piece is merged."""
    kinds: str
    """A letter for each: n spells text, b is a byte, c says something and spells nothing."""


class Tokenizer:
    """A trained vocabulary. `decode(encode(text)) == normalise(text)` for any text."""

    def __init__(self, model: bytes) -> None:
        self.model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.tags = self._read_tags()
        """The control symbols that say to which language to translate, by its code."""
        self._num_reserved = _NUM_RESERVED + len(self.tags)
        self._silent = {PAD, UNK, BOS, EOS, *self.tags.values()}
        self._known: dict[str, bool] = {}
        self._readable: set[str] = set()
        self._space_bytes = [
            self._processor.piece_to_id(f"<0x{byte:02X}>") for byte in _SPACE.encode()
        ]

    @classmethod
    def load(cls, path: Path) -> "Tokenizer":
        """Read a `tokenizer.model` file."""
        try:
            model = path.read_bytes()
            if not model:  # which SentencePiece would take for no model at all
                raise RuntimeError("the file is empty")
            return cls(model)
        except (OSError, RuntimeError) as error:
            raise ModelFolderError(f"{path}: cannot be read as a vocabulary ({error})") from error

    def _read_tags(self) -> dict[str, int]:
        """Find the tags, which no text can spell: what looks like one is cut into other pieces."""
        tags = {}
        for id in range(_FIRST_TAG, self.vocab_size):
            found = _TAG.fullmatch(self._processor.id_to_piece(id))
            if not (found and self._processor.is_control(id)):
                break
            tags[found[1]] = id
        return tags

    def without_tag(self, ids: Sequence[int]) -> list[int]:
        """Leave out the tag that a source may begin with."""
        return list(ids[1:] if ids and ids[0] in self.tags.values() else ids)

    @property
    def vocab_size(self) -> int:
        """Pieces in the vocabulary, reserved ids included."""
        return int(self._processor.get_piece_size())

    @property
    def merged_ids(self) -> range:
        """The pieces that BPE merged, in the order in which it learned them."""
        characters = (id for id in self.learned_ids if len(self._processor.id_to_piece(id)) == 1)
        return range(self._num_reserved, next(characters, self.vocab_size))

    @property
    def learned_ids(self) -> range:
        """The pieces that spell text themselves: neither reserved nor a byte."""
        return range(self._num_reserved, self.vocab_size)

    def encode(self, text: str) -> list[int]:
        """Cut a text into piece ids, without BOS and EOS."""
        refuse_halves(text)
        first, *others = normalise(text).split(_SPACE)
        # The space in front lets a word look the same at the start of a sentence and inside it.
        ids: list[int] = self._processor.encode(f" {first}") if first or others else []
        for part in others:
            ids += self._space_bytes + self._processor.encode(part)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Join piece ids to text; reserved ids are left out."""
        kept = [id for id in ids if id not in self._silent]
        return str(self._processor.decode(kept)).removeprefix(" ")

    def spell(self, ids: Sequence[int]) -> list[str]:
        """Return what each piece adds to the text; the last byte of a character adds all of it."""
        decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        spelt = []
        for id, piece in zip(ids, self.pieces(ids), strict=True):
            if id in self._silent:
                spelt.append("")
            elif self._processor.is_byte(id):
                spelt.append(decoder.decode(bytes([int(piece[1:-1], 16)])))
            else:
                spelt.append(decoder.decode(b"", final=True) + piece.replace(_SPACE, " "))
        return [spelt[0].removeprefix(" "), *spelt[1:]] if spelt else []

    def vocabulary(self) -> Vocabulary:
        """Hand over the pieces with what they are."""
        ids = range(self.vocab_size)
        scores = [float(self._processor.get_score(id)) for id in ids]
        return Vocabulary(self.pieces(ids), scores, "".join(map(self._kind, ids)))

    def _kind(self, id: int) -> str:
        if self._processor.is_byte(id):
            return "b"
        return "c" if self._processor.is_control(id) or self._processor.is_unknown(id) else "n"

    def knows(self, text: str) -> bool:
        """Whether a character, or a few, have a piece of their own."""
        if text not in self._known:
            self._known[text] = self._processor.piece_to_id(text) != UNK
        return self._known[text]

    def unknown_characters(self, text: str) -> set[str]:
        """Return the letters and symbols of a text that have no piece of their own."""
        new = set(text) - self._readable
        unknown = {
            character for character in new if _is_said(character) and not self.knows(character)
        }
        self._readable |= new - unknown
        return unknown

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Spell ids as the pieces they stand for, a word's start marked by '▁'."""
        return [str(self._processor.id_to_piece(id)) for id in ids]


def train_tokenizer(
    texts: Callable[[], Iterator[str]],
    config: TokenizerConfig,
    readable_bytes: int | float = math.inf,
    languages: Sequence[str] = (),
) -> Tokenizer:
    """Learn a vocabulary from the texts that each call of `texts` streams anew.

    Its size, where the config leaves it open, is chosen for no more text than `readable_bytes`.
    Each of the `languages` gets a tag.
    """
    characters: Counter[str] = Counter()
    num_bytes = 0
    for text in islice(texts(), _MOST_TEXTS):
        characters.update(text)
        num_bytes += len(text.encode())
    vocab_size = config.vocab_size or choose_vocab_size(min(num_bytes, readable_bytes))
    # Rare characters that would crowd out the merges are left to their bytes.
    common = characters.most_common((vocab_size - _NUM_RESERVED) // 2)
    rare = dict.fromkeys(map(ord, characters.keys() - dict(common)), " ")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(f" {text}".translate(rare) for text in islice(texts(), _MOST_TEXTS)),
        model_writer=model,
        model_type="bpe",
        vocab_size=vocab_size,
        hard_vocab_limit=False,  # a tiny corpus yields fewer pieces than were asked for
        character_coverage=1.0,
        byte_fallback=True,
        split_digits=True,
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        max_sentence_length=1 << 20,
        pad_id=PAD,
        unk_id=UNK,
        bos_id=BOS,
        eos_id=EOS,
        control_symbols=[f">>{language}<<" for language in dict.fromkeys(languages)],
        minloglevel=2,
    )
    return Tokenizer(model.getvalue())


def _is_said(character: str) -> bool:
    """Whether a translation must not lack it: a letter, a symbol such as €, a fraction, an accent.

    What Unicode leaves to others, or has not assigned yet, is a symbol too.
    """
    kinds = ("Sc", "Sm", "So", "No", "Mn", "Mc", "Me", "Co", "Cn")
    return character.isalpha() or unicodedata.category(character) in kinds


def choose_vocab_size(num_bytes: int | float) -> int:
    """Grow the vocabulary with the square root of the text: 8,000 pieces for 4 MB."""
    return min(max(round(4 * math.sqrt(num_bytes) / 64) * 64, 512), 32_000)
