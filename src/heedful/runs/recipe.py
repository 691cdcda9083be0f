"""A recipe: every choice that makes one run, in one TOML file."""

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any, get_type_hints

from heedful.data.corpus import CleaningConfig
from heedful.data.files import FILES, DataConfig, directions_of
from heedful.data.forms import FormsConfig
from heedful.data.parent import StartConfig
from heedful.decoding.hypothesis import SearchConfig
from heedful.errors import ConfigError, near_miss, refuse_other_type
from heedful.model.config import PRESETS, SIZE_NAMES, ModelConfig, preset
from heedful.text.tokenizer import TokenizerConfig
from heedful.training.config import TrainingConfig
from heedful.training.schedule import peak_rate

DEFAULT = "default"
_MOST_BYTES = 1 << 20  # of a recipe
_GENTLE = 0.1  # of the rate, for a model that goes on
_SHORT_WARMUP, _SHORT_PATIENCE = 100, 4
ROOT = "paper"  # what a recipe leaves open is done as the paper does it


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The sections of a recipe file; each belongs to the module that reads it."""

    data: tuple[DataConfig, ...]
    """One corpus, or several for a model of several languages."""
    cleaning: CleaningConfig = field(default_factory=CleaningConfig)
    forms: FormsConfig = field(default_factory=FormsConfig)
    tokenizer: TokenizerConfig = field(default_factory=TokenizerConfig)
    model: Mapping[str, Any] = field(default_factory=dict)
    """A preset and changes to it; the vocabulary's size joins when that is known."""
    start: StartConfig = field(default_factory=StartConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    stated: frozenset[tuple[str, str]] = frozenset()
    """Section and name of what was said above the default recipe, which no plan may change."""

    def model_config(self, vocab_size: int) -> ModelConfig:
        """Complete the sizes of the network."""
        changes = dict(self.model)
        return preset(changes.pop("preset", "base"), **changes, vocab_size=vocab_size)

    def within(self, minutes: int | float) -> "Recipe":
        """Return the same recipe with so many minutes to spend in place of a number of steps."""
        refuse_other_type("minutes", minutes, float)
        training = replace(self.training, steps=0, minutes=float(minutes))
        return replace(self, training=training, stated=self.stated | {("training", "minutes")})

    def going_on_from(self, model: str | Path, mix: int | float = StartConfig.mix) -> "Recipe":
        """Return the same recipe for a model that goes on from another (fine-tuning).

        Its sizes are those of that model, its rate is a tenth, and it stops when it gains no more.
        """
        refuse_other_type("model", model, str, Path)
        refuse_other_type("mix", mix, float)
        start = StartConfig(model=str(model), mix=float(mix))
        assert start.folder
        sizes = asdict(start.folder.config())
        del sizes["vocab_size"]
        before = self.training
        d_model = self.model_config(vocab_size=1).d_model
        warmup = max(min(_SHORT_WARMUP, before.steps // 10), 1) if before.steps else _SHORT_WARMUP
        peak = peak_rate(before.peak_rate, d_model=d_model, warmup_steps=before.warmup_steps)
        training = replace(
            before,
            schedule="linear",
            peak_rate=peak * _GENTLE,
            warmup_steps=warmup,
            patience=_SHORT_PATIENCE,
        )
        search = SearchConfig(**vars(start.folder.provenance().search))
        stated = {("model", name) for name in sizes} | {("training", "patience")}
        return replace(
            self,
            start=start,
            model=sizes,
            training=training,
            search=search,
            stated=self.stated | stated,
        )

    def toml(self) -> str:
        """Write the recipe down with every choice made explicit."""
        model = asdict(self.model_config(vocab_size=1))
        del model["vocab_size"]
        sections = {**asdict(self), "model": model}
        del sections["stated"], sections["data"]
        corpora = [_section_toml("[data]", _renamed(asdict(each), _SPELT)) for each in self.data]
        return "\n".join(
            [*corpora, *(_section_toml(name, values) for name, values in sections.items())]
        )


_SECTIONS: dict[str, type[Any]] = {
    "cleaning": CleaningConfig,
    "forms": FormsConfig,
    "start": StartConfig,
    "tokenizer": TokenizerConfig,
    "model": ModelConfig,
    "training": TrainingConfig,
    "search": SearchConfig,
}


_SPELT = {"from_language": "from", "to_language": "to"}  # in a recipe; Python has another "from"


def known_recipes() -> list[str]:
    """Return the names of the recipes that come with the program."""
    folder = resources.files("heedful") / "recipes"
    return sorted(Path(item.name).stem for item in folder.iterdir() if item.name.endswith(".toml"))


def load_recipe(name: str | Path = DEFAULT, folder: str | Path = "", **data: str | Path) -> Recipe:
    """Read a recipe by name or path; `data` names files in place of those in the recipe.

    Files that the recipe itself names lie in `folder`, if there is one.
    A recipe states what differs from the one it names as `recipe`, or else from the default,
    which in turn states what differs from the paper.
    """
    refuse_other_type("the name of a recipe", name, str, Path)
    refuse_other_type("folder", folder, str, Path)
    for key, value in data.items():
        refuse_other_type(key, value, str, Path)
    _refuse_unknown(data, {field.name for field in fields(DataConfig)}, "load_recipe")
    layers = _read_layers(name := str(name))
    sections: dict[str, dict[str, Any]] = {section: {} for section in _SECTIONS}
    for layer in layers.values():
        sections = _laid_over(sections, layer)
    made = {section: _make(section, values, name) for section, values in sections.items()}
    if (n_best := made["search"].n_best) != 1:
        raise ConfigError(
            f"{name}: n_best = {n_best} is for a single translation, not for a model; "
            "leave it out and give --n-best to heedful translate"
        )
    corpora = [each for layer in layers.values() for each in [layer.get("data")] if each]
    given = {key: str(value) for key, value in data.items() if value}
    made["data"] = _data(corpora[-1] if corpora else [{}], Path(folder), given, name)
    recipe = Recipe(**made, stated=_stated(layers))
    if recipe.start.folder and recipe.start.folder.config() != recipe.model_config(
        recipe.start.folder.config().vocab_size
    ):
        raise ConfigError(
            f"{name}, [start]: the sizes are not those of {recipe.start.model}; leave [start] out, "
            f"and give --from {recipe.start.model}, which takes sizes and a gentle rate"
        )
    if recipe.training.teachers and len(directions_of(recipe.data)) > 1:
        raise ConfigError(f"{name}: teachers are for one direction, not for a model of several")
    return recipe


def _data(
    corpora: Sequence[Mapping[str, Any]], folder: Path, given: dict[str, str], where: str
) -> tuple[DataConfig, ...]:
    """Complete the corpora of a recipe by where they are, or by files that are given instead."""
    placed: list[dict[str, Any]] = [
        {key: _placed(value, folder) if key in FILES else value for key, value in each.items()}
        for each in corpora
    ]
    if given and len(placed) > 1:
        option = _SPELT.get(min(given), min(given)).replace("_", "-")
        raise ConfigError(
            f"{where} names {len(placed)} corpora of its own; leave out --{option}, or write a "
            "recipe with other files"
        )
    for one, other in ("source", "target"), ("valid_source", "valid_target"):
        if one in given:
            placed[0].pop(other, None)  # which belongs to the file in the recipe
    try:
        return tuple(DataConfig(**(each | given)) for each in placed)
    except ConfigError as error:
        raise ConfigError(f"{where}, [data]: {error}") from error


def _placed(file: str, folder: Path) -> str:
    return str(folder / file) if file and folder.parts else file


def _read_layers(name: str) -> dict[str, dict[str, Any]]:
    """Read a recipe and those it stands on, the lowest first."""
    document = _read(name)
    beneath = document.get("recipe", DEFAULT)
    if name == ROOT:
        return {name: document}
    if beneath not in known_recipes():
        raise ConfigError(
            f"{name}: unknown recipe '{beneath}'; {near_miss(str(beneath), known_recipes())}"
        )
    return {**_read_layers(beneath), name: document}


def _laid_over(
    lower: dict[str, dict[str, Any]], layer: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Put what a layer says over what the lower ones say, and set aside what it makes void."""
    model, training = dict(lower["model"]), dict(lower["training"])
    if named := layer.get("model", {}).get("preset"):
        decided = SIZE_NAMES | PRESETS.get(named, {}).keys()
        model = {name: value for name, value in model.items() if name not in decided}
    if layer.get("training", {}).keys() & {"steps", "minutes"}:
        training |= {"steps": 0, "minutes": 0.0}
    lower = {**lower, "model": model, "training": training}
    return {section: values | layer.get(section, {}) for section, values in lower.items()}


def _stated(layers: dict[str, dict[str, Any]]) -> frozenset[tuple[str, str]]:
    names = list(layers)
    above = names[names.index(DEFAULT) + 1 :] if DEFAULT in names else names
    return frozenset(
        (section, name)
        for layer in above
        for section in _SECTIONS
        for name in layers[layer].get(section, {})
    )


def _read(name: str) -> dict[str, Any]:
    """Parse a recipe and refuse any name or type that its sections do not know."""
    try:
        if name in known_recipes():
            text = (resources.files("heedful") / "recipes" / f"{name}.toml").read_text("utf-8")
        else:
            with Path(name).open("rb") as file:  # which may be a pipe, or have no end
                text = file.read(_MOST_BYTES).decode("utf-8-sig")
        document = tomllib.loads(text)
    except FileNotFoundError:
        names = ", ".join(known_recipes())
        raise ConfigError(f"{name}: no such recipe file; recipes known by name: {names}") from None
    except (OSError, ValueError) as error:  # UnicodeDecodeError, TOMLDecodeError, huge numbers
        raise ConfigError(f"{name}: cannot be read as a recipe; {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{name}: cannot be read as a recipe; too deep") from error
    _refuse_unknown(document, {"recipe", "data", *_SECTIONS}, name)
    document["data"] = _read_data(document.get("data", []), name)
    for section, kind in _SECTIONS.items():
        values = document.get(section, {})
        if not isinstance(values, dict):
            raise ConfigError(f"{name}: {section} must be a section, written [{section}]")
        _check(values, section, kind, name)
    return document


def _read_data(corpora: Any, where: str) -> list[dict[str, Any]]:
    """Read one corpus, [data], or several, each [[data]]."""
    corpora = [corpora] if isinstance(corpora, dict) else corpora
    if not isinstance(corpora, list) or not all(isinstance(each, dict) for each in corpora):
        raise ConfigError(f"{where}: data must be a section, written [data], or [[data]] for each")
    for each in corpora:
        known = {_SPELT.get(field.name, field.name) for field in fields(DataConfig)}
        _refuse_unknown(each, known, f"{where}, [data]")
    read = [_renamed(each, {there: here for here, there in _SPELT.items()}) for each in corpora]
    for each in read:
        _check(each, "data", DataConfig, where)
    return read


def _renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}


def _check(values: dict[str, Any], section: str, kind: type[Any], where: str) -> None:
    types = get_type_hints(kind)
    if kind is ModelConfig:
        types = {"preset": str, **types}
        del types["vocab_size"]
    _refuse_unknown(values, set(types), f"{where}, [{section}]")
    for name, value in values.items():
        expected = types[name]
        if expected is float and type(value) is int:
            values[name] = float(value)
        elif type(value) is not expected or (expected is float and not math.isfinite(value)):
            raise ConfigError(
                f"{where}, [{section}]: {name} must be {_KINDS[expected]}, got {value!r}"
            )


_KINDS = {int: "a whole number", float: "a number", str: "a text in quotes", bool: "true or false"}


def _make(section: str, values: dict[str, Any], where: str) -> Any:
    try:
        if section == "model":
            Recipe(data=(), model=values).model_config(vocab_size=1)
            return values
        return _SECTIONS[section](**values)
    except ConfigError as error:
        raise ConfigError(f"{where}, [{section}]: {error}") from error


def _refuse_unknown(given: dict[str, Any], known: set[str], where: str) -> None:
    for name in given.keys() - known:
        raise ConfigError(f"{where}: unknown name '{name}'; {near_miss(name, known)}")


def _section_toml(name: str, values: Mapping[str, Any]) -> str:
    # A JSON value is a TOML value, if no character is written as a pair of surrogates.
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return "\n".join([f"[{name}]", *lines, ""])
