"""What the page computes is what Python computes: ids, scores, weights, searches."""

import base64
import random
from itertools import pairwise

import pytest
import torch
from babel import Locale, localedata
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from heedful.decoding.hypothesis import SearchConfig
from heedful.decoding.pytorch_engine import PyTorchEngine
from heedful.explain.page import page_data
from heedful.explain.record import record_attention
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.specials import BOS, EOS
from heedful.text.sentences import cut_text
from heedful.text.tokenizer import Tokenizer, TokenizerConfig, train_tokenizer
from tests.explain.browser.conftest import packed

pytestmark = pytest.mark.slow

ODD = [
    " ", "  ", "\t", "\n", "\r\n", "\0", "\x7f", "\u00a0", "\u2581", "▁a", "\ufeff", "\u200b", "é",
    "e\u0301", "\u0301" * 31, "a" + "\u0323\u0301" * 20, "\u0344" * 35, "각", "\u1100\u1161\u11a8",
    "👩‍👩‍👧", "🇫🇷", "1234567890", "٣", "ﬁ", "İ", "ß", "𝔘", "\U000e0041", "\ufffd", "\U0010ffff",
    "नमस्ते", "สวัสดี", "日本語", "שלום", "مرحبا", "<s>", "</s>", "<unk>",
    "<0x41>", "hello", "Hello World",
]  # fmt: skip
ANY_TEXT = st.text(max_size=40) | st.lists(st.sampled_from(ODD), max_size=12).map("".join)


def drawn(strategy, count: int) -> list:
    """Draw so many examples at once, for one call of the browser."""
    examples = []

    @settings(max_examples=count, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def collect(example):
        examples.append(example)

    collect()
    return examples


def names_of_places() -> list[str]:
    """Return real text in every language of CLDR: what countries and languages are called."""
    lines = set()
    for name in localedata.locale_identifiers():
        if "_" not in name:
            locale = Locale.parse(name)
            lines |= {*locale.territories.values(), *locale.languages.values()}
    return sorted(lines)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    lines = names_of_places()
    random.Random(1).shuffle(lines)
    return lines[:8_000]


@pytest.fixture(scope="module")
def tokenizer(lines) -> Tokenizer:
    return train_tokenizer(lambda: iter(lines), TokenizerConfig(vocab_size=4_000))


def test_ids_are_those_of_python_on_any_unicode(call, tokenizer, lines):
    texts = [*lines, *drawn(ANY_TEXT, 3_000), "x" * 5_000, "ab " * 2_000, *ODD]

    found = call("encode", vocabulary=tokenizer.vocabulary()._asdict(), texts=texts)

    wanted = [tokenizer.encode(text) for text in texts]
    assert len(texts) > 10_000
    assert [t for t, a, b in zip(texts, found, wanted, strict=True) if a != b] == []


def test_any_ids_are_spelt_as_in_python(call, tokenizer):
    rows = drawn(st.lists(st.integers(0, tokenizer.vocab_size - 1) | st.integers(4, 259)), 1_000)

    found = call("decode", vocabulary=tokenizer.vocabulary()._asdict(), rows=rows)

    # Halves of characters as bytes, ED A0 to ED BF, spell as many U+FFFD, but a piece sooner.
    rows, found = zip(
        *[it for it in zip(rows, found, strict=True) if 0xED + 4 not in it[0]], strict=True
    )
    wanted = [[tokenizer.decode(row), tokenizer.spell(row)] for row in rows]
    assert [r for r, a, b in zip(rows, found, wanted, strict=True) if a != b] == []


ARCHITECTURES = [
    {},
    {"normalisation": "pre"},
    {"positions": "halves"},
    {"positions": "learned", "max_length": 20},
    {"d_k": 5, "d_v": 3},
    {"d_k": 3, "d_v": 7, "normalisation": "pre", "positions": "learned", "max_length": 20},
    {"num_layers": 1, "num_heads": 1, "d_model": 6, "d_ff": 3, "vocab_size": 7},
    {"num_layers": 4, "num_heads": 8, "d_model": 128, "d_ff": 256, "vocab_size": 2_003},
    {"num_layers": 6, "num_heads": 4, "d_model": 64, "normalisation": "pre", "positions": "halves"},
]


def random_model(changes: dict) -> Transformer:
    """Make a model with weights that are all random, biases and norms too."""
    sizes = {"vocab_size": 301, "num_layers": 2, "d_model": 32, "d_ff": 48, "num_heads": 4}
    model = Transformer(ModelConfig(**(sizes | changes))).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    return model


def pair(model: Transformer) -> tuple[list[int], list[int]]:
    numbers = random.Random(2)
    ids = [numbers.randrange(4, model.config.vocab_size) for _ in range(20)]
    return [*ids[:11], EOS], [BOS, *ids[12:]]


@torch.no_grad()
@pytest.mark.parametrize("changes", ARCHITECTURES, ids=str)
def test_scores_of_every_next_piece_are_those_of_pytorch(call, tmp_path, monkeypatch, changes):
    model = random_model(changes)
    source, target = pair(model)
    document, _ = packed(model, tmp_path, monkeypatch)

    found = call("scores", model=document, source=source, target=target)

    wanted = model(torch.tensor([source]), torch.tensor([target])).log_softmax(-1).flatten()
    assert_close(torch.tensor(found["together"]), wanted, atol=2e-3, rtol=0)
    assert_close(torch.tensor(found["stepwise"]), wanted, atol=2e-3, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("bits", [8, 11])
@pytest.mark.parametrize("changes", ARCHITECTURES[:6], ids=str)
def test_with_the_same_rounded_weights_scores_are_the_same(
    call, tmp_path, monkeypatch, changes, bits
):
    document, model = packed(random_model(changes), tmp_path, monkeypatch, bits)
    source, target = pair(model)

    found = call("scores", model=document, source=source, target=target)

    wanted = model(torch.tensor([source]), torch.tensor([target])).log_softmax(-1).flatten()
    assert {place["bits"] for place in document["places"]} == {bits, 16}
    assert_close(torch.tensor(found["together"]), wanted, atol=2e-5, rtol=0)
    assert_close(torch.tensor(found["stepwise"]), wanted, atol=2e-5, rtol=0)


@torch.no_grad()
def test_the_weights_of_every_head_are_those_of_pytorch(call, tmp_path, monkeypatch):
    document, model = packed(random_model({"d_k": 5, "d_v": 3}), tmp_path, monkeypatch)
    source, target = pair(model)
    with record_attention(model) as maps:
        model(torch.tensor([source]), torch.tensor([target]))

    kept = call("kept", model=document, source=source, target=target, whatIf={})["kept"]

    for stack, kind, name in (
        ("encoder", "encoder", "self"),
        ("decoder", "decoder", "self"),
        ("decoder", "cross", "source"),
    ):
        for layer in range(2):
            (wanted,) = maps[f"{stack}.{layer}.{name}_attention"]
            found = torch.tensor(kept[f"{kind}.{layer}.weights"]["data"]).view(wanted.shape)
            assert_close(found, wanted, atol=1e-5, rtol=0)
    assert kept["cross.1.query"]["width"] == 4 * 5
    assert kept["cross.1.gathered"]["width"] == 4 * 3


@torch.no_grad()
@pytest.mark.parametrize("whatif", ["silenced", "withoutPositions", "withoutMask", "withoutScale"])
def test_what_is_switched_off_is_off_in_the_same_way_in_pytorch(
    call, tmp_path, monkeypatch, whatif
):
    document, model = packed(random_model({}), tmp_path, monkeypatch)
    source, target = pair(model)
    changes = {whatif: ["cross.1.2"] if whatif == "silenced" else True}

    found = call("kept", model=document, source=source, target=target, whatIf=changes)["logits"]

    usual = model(torch.tensor([source]), torch.tensor([target]))
    _switch_off(model, whatif)
    wanted = model(torch.tensor([source]), torch.tensor([target]))
    assert_close(torch.tensor(found), wanted.flatten(), atol=1e-4, rtol=0)
    assert not torch.allclose(usual, wanted, atol=1e-2)


def _switch_off(model: Transformer, whatif: str) -> None:
    if whatif == "silenced":  # what W^O makes of that head is nothing
        model.decoder[1].source_attention.output.weight[:, 16:24] = 0
    elif whatif == "withoutPositions":
        model.positions.table = torch.zeros_like(model.positions.table)
    elif whatif == "withoutScale":
        for name, parameter in model.named_parameters():
            if "attention.query" in name:
                parameter *= 8**0.5  # d_k
    else:
        for layer in model.decoder:
            layer.self_attention.attend = lambda q, k, v, visible: (
                torch.nn.functional.scaled_dot_product_attention(q, k, v)
            )


@pytest.mark.parametrize("bits", [11, 16])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_same_is_found_for_nearly_all_sentences(call, trained, monkeypatch, bits, beam_size):
    monkeypatch.setattr("heedful.explain.page_weights.bits_of_weights", lambda shapes: bits)
    data, weights = page_data(trained)
    letters = random.Random(7)
    texts = [" ".join(letters.choices("abcdef", k=letters.randint(2, 7))) for _ in range(300)]
    sources = [trained.tokenizer().encode(text) for text in texts]
    wish = {"beamSize": beam_size, "alpha": 0.6}

    encoded = base64.b64encode(weights).decode()
    found = call("search", data=data, weights=encoded, sources=sources, wish=wish)

    config = SearchConfig(beam_size=beam_size, n_best=beam_size)
    wanted = PyTorchEngine.load(trained).search(sources, config)
    ours = [[(list(it.pieces), it.is_finished) for it in beam] for beam in wanted]
    theirs = [[(it["pieces"], it["isFinished"]) for it in beam] for beam in found]
    both = list(zip(ours, theirs, strict=True))
    assert sum(ours[0] == theirs[0] for ours, theirs in both) >= 297
    if bits == 16:  # all of the beam, in its order, with its probabilities
        assert sum(ours == theirs for ours, theirs in both) >= 297
        for one, other in zip(wanted, found, strict=True):
            if one[0].pieces == tuple(other[0]["pieces"]):
                assert abs(one[0].log_probability - other[0]["logProbability"]) < 5e-3


def test_every_step_of_a_beam_tells_what_became_of_its_candidates(call, trained):
    data, weights = page_data(trained)
    encoded, source = base64.b64encode(weights).decode(), trained.tokenizer().encode("a b c")
    prefix = trained.tokenizer().encode("F")

    wish = {"beamSize": 3, "alpha": 0.6}
    steps = call("steps", data=data, weights=encoded, source=source, wish=wish, prefix=prefix)

    ids = [node["id"] for step in steps for node in step["candidates"]]
    assert ids == list(range(1, len(ids) + 1))
    assert [step["end"] for step in steps] == [""] * (len(steps) - 1) + ["enough"]
    assert [it["piece"] for it in steps[0]["candidates"]] == prefix
    assert steps[0]["candidates"][0]["logProbability"] == 0
    for before, step in pairwise(steps):
        fates = [node["fate"] for node in step["candidates"]]
        assert len(fates) <= 6
        assert fates.count("kept") <= 3
        assert {it["parent"]["id"] for it in step["candidates"]} <= {
            node["id"] for node in before["kept"]
        }
        for node, fate in zip(step["candidates"], fates, strict=True):
            assert (node["piece"] == EOS) == (fate in ("finished", "ended too low"))
            assert fate != "finished" or node["rank"] < 3
            total = node["parent"]["total"] + node["logProbability"]
            assert node["total"] == pytest.approx(total, abs=1e-5)
    assert len(steps[-1]["found"]) >= 5


PARTS = [
    "Dr. No came. ", "He left! ", "a word ", "word, ", "。", "日本語。次", "e.g. this ", "\n", "\t",
    "   ", "…", "“Yes.” ", "5. Oktober ", "é" * 40, "x" * 90, "\u00ad", "«ok?» ", "؟ ", "A. B. C",
]  # fmt: skip
PLAIN = st.lists(st.sampled_from(PARTS), max_size=60).map("".join)


def test_text_without_tags_is_cut_into_the_same_sentences(call):
    texts = drawn(PLAIN, 600)

    for longest in (1_000, 100):
        found = call("cut", texts=texts, longest=longest)

        wanted = [[text[a:b] for a, b in cut_text(text, longest)] for text in texts]
        assert [t for t, a, b in zip(texts, found, wanted, strict=True) if a != b] == []
