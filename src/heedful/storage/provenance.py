"""Where a model comes from: what it was made of, how, with what, and how well it does."""

from dataclasses import dataclass, field

from heedful.storage.languages import Direction


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file that was trained or validated on."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Versions:
    """Of the programs that made it."""

    python: str
    heedful: str
    torch: str
    ctranslate2: str
    sentencepiece: str
    sacrebleu: str


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What it was trained on."""

    cpu: str
    device: str
    processes: int
    threads: int


@dataclass(frozen=True, kw_only=True)
class Data:
    """What it was trained and validated on."""

    files: list[SourceFile]
    cleaning: dict[str, int]
    """How many pairs were read, and how many of them were dropped for what."""
    train_pairs: int
    valid_pairs: int
    credits: list[str] = field(default_factory=list)
    """From whom the text is, and under which licence."""
    directions: list[Direction] = field(default_factory=list)
    """From which languages to which, as far as it is known."""

    @property
    def from_language(self) -> str:
        """The one language that it reads, if there is one and it is known."""
        return self.directions[0].from_language if len(self.directions) == 1 else ""

    @property
    def to_language(self) -> str:
        """The one language that it writes, if there is one and it is known."""
        return self.directions[0].to_language if len(self.directions) == 1 else ""


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large it is."""

    vocab_size: int
    parameters: int
    is_rounded: bool = False
    """Whether its weights were rounded to be packed."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """How it was trained."""

    seed: int
    steps: int
    teacher_steps: int
    teacher_minutes: float
    minutes_given: float
    """For the model itself; 0 when steps were counted."""
    stopped_early: bool
    seconds: float
    averaged_checkpoints: int
    parent: str = ""
    """The model that was gone on from: its name, and the checksum of its weights."""


@dataclass(frozen=True, kw_only=True)
class Search:
    """How it was translated with when it was scored, and is by default."""

    beam_size: int
    alpha: float
    n_best: int


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A score on the validation pairs, and the signature without which it means nothing."""

    name: str
    value: float
    signature: str


@dataclass(frozen=True, kw_only=True)
class Example:
    """A validation sentence, what the model makes of it, and what stands beside it in the files."""

    source: str
    translation: str
    reference: str


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """All of `provenance.json`."""

    created: str
    versions: Versions
    machine: Machine
    data: Data
    model: Size
    training: Training
    search: Search
    scores: list[Scored]
    history: list[dict[str, object]] = field(default_factory=list)
    """The validations on the way."""
    diagnoses: list[dict[str, object]] = field(default_factory=list)
    """What the doctor said."""
    examples: list[Example] = field(default_factory=list)
    """The same for every model of these files, so that one can compare."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of what lies in the folder, by name."""
