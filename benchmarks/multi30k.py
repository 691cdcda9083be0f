"""The corpus of the benchmarks: Multi30k, English to German, lower-cased and tokenised."""

from pathlib import Path

from heedful.data.files import DataConfig
from heedful.data.prepare import Preparation, PreparedCorpus, prepare
from heedful.text.tokenizer import TokenizerConfig

_VOCAB_SIZE = 8_000


def prepare_multi30k(data: Path, cache: Path) -> PreparedCorpus:
    """Prepare the lower-cased, tokenised training files with a joint vocabulary."""
    source, target = multi30k_files(data)
    return prepare(
        cache / "multi30k",
        (DataConfig(source=source, target=target),),
        Preparation(tokenizer=TokenizerConfig(vocab_size=_VOCAB_SIZE)),
    )


def multi30k_files(data: Path) -> tuple[str, str]:
    """Name the English and the German training file."""
    return str(data / "train.lc.norm.tok.en.gz"), str(data / "train.lc.norm.tok.de.gz")
