"""The systems that translate side by side with the same weights, each as its users write it."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import ctranslate2
import torch
from sentencepiece import SentencePieceProcessor

import heedful
from heedful.decoding.hypothesis import EXTRA_LENGTH
from heedful.model.batch import pad
from heedful.model.transformer import LAYER_NORM_EPSILON, Transformer
from heedful.specials import BOS, EOS, PAD
from heedful.storage.checkpoint import load_model
from heedful.storage.folder import ModelFolder

_BATCH = 32  # sentences, where a system leaves batches to its user
_TRIED = 200  # sentences, when settings are compared by hand

Translate = Callable[[Sequence[str], int], list[str]]
"""Texts and a beam size in, their translations out."""


def heedful_translator(folder: ModelFolder, engine: str, *, fast: bool = False) -> Translate:
    """Translate as `heedful translate` does."""
    translator = heedful.load(folder.path, engine, fast=fast)

    def translate(texts: Sequence[str], beam_size: int) -> list[str]:
        if len(texts) == 1:
            return [translator.translate(texts[0], beam_size=beam_size).text]
        return [str(found) for found in translator.translate_lines(texts, beam_size=beam_size)]

    return translate


def quickstart_translator(folder: ModelFolder) -> Translate:
    """Translate as CTranslate2's quickstart shows: every setting at its default."""
    return _ctranslate2(folder, _loaded(folder))


def _loaded(folder: ModelFolder, **settings: Any) -> ctranslate2.Translator:
    """Load a model with CTranslate2, and leave its threads to torch, which shares the process."""
    threads = torch.get_num_threads()
    try:
        return ctranslate2.Translator(str(folder.ctranslate2), **settings)
    finally:
        torch.set_num_threads(threads)


def hand_set_translator(
    folder: ModelFolder, parts: Sequence[Sequence[str]], beam_size: int
) -> Translate:
    """Try the settings of CTranslate2 on some of the texts, and translate with the fastest."""
    cores = torch.get_num_threads()
    supported = ctranslate2.get_supported_compute_types("cpu")
    translators = {
        (kind, workers): _loaded(
            folder, compute_type=kind, inter_threads=workers, intra_threads=cores // workers
        )
        for kind, workers in product(("float32", "int8", "int16"), {1, cores})
        if kind in supported
    }
    batches = _batch_settings() if len(parts[0]) > 1 else [{}]
    tried = [part[:_TRIED] for part in parts[: _TRIED // len(parts[0]) or 1]]

    def seconds(setting: tuple[tuple[str, int], dict[str, Any]]) -> float:
        key, options = setting
        translate = _ctranslate2(folder, translators[key], **options)
        began = perf_counter()
        translate(tried[0][:_BATCH], beam_size)  # a first look; who is slow here stays so
        if perf_counter() - began > 1:
            return float("inf")
        began = perf_counter()
        for texts in tried:
            translate(texts, beam_size)
        return perf_counter() - began

    key, options = min(product(translators, batches), key=seconds)
    print(f"CTranslate2 by hand, beam {beam_size}: {key[0]}, {key[1]} workers, {options}")
    return _ctranslate2(folder, translators[key], **options)


def _batch_settings() -> list[dict[str, Any]]:
    sentences = [{"max_batch_size": size} for size in (16, 32, 64, 128)]
    tokens = [{"max_batch_size": size, "batch_type": "tokens"} for size in (512, 1_024, 2_048)]
    return [*sentences, *tokens]


def _ctranslate2(
    folder: ModelFolder, translator: ctranslate2.Translator, **options: Any
) -> Translate:
    pieces = SentencePieceProcessor(model_file=str(folder.tokenizer_file))

    def translate(texts: Sequence[str], beam_size: int) -> list[str]:
        sources = pieces.encode([f" {text}" for text in texts], out_type=str)
        results = translator.translate_batch(sources, beam_size=beam_size, **options)
        return [pieces.decode(result.hypotheses[0]).strip() for result in results]

    return translate


def huggingface_translator(folder: ModelFolder) -> Translate:
    """Translate with `generate` of HuggingFace's M2M100, which has our network: pre-norm."""
    model, tokenizer = m2m100(load_model(folder)), folder.tokenizer()

    @torch.inference_mode()
    def translate_batch(texts: Sequence[str], beam_size: int) -> list[str]:
        sources = pad([[*tokenizer.encode(text), EOS] for text in texts])
        written = model.generate(
            input_ids=sources,
            attention_mask=(sources != PAD).long(),
            num_beams=beam_size,
            do_sample=False,
            max_new_tokens=sources.size(1) + EXTRA_LENGTH,
        )
        return [tokenizer.decode(ids) for ids in written.tolist()]

    return _in_batches(translate_batch)


def m2m100(ours: Transformer) -> Any:
    """Put our weights into a model of HuggingFace's that computes the same."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    sizes = ours.config
    model = M2M100ForConditionalGeneration(
        M2M100Config(
            vocab_size=sizes.vocab_size,
            d_model=sizes.d_model,
            encoder_layers=sizes.num_layers,
            decoder_layers=sizes.num_layers,
            encoder_ffn_dim=sizes.d_ff,
            decoder_ffn_dim=sizes.d_ff,
            encoder_attention_heads=sizes.num_heads,
            decoder_attention_heads=sizes.num_heads,
            max_position_embeddings=sizes.max_length,
            scale_embedding=True,
            pad_token_id=PAD,
            bos_token_id=BOS,
            eos_token_id=EOS,
            decoder_start_token_id=BOS,
        )
    ).eval()
    weights = {_m2m100_name(name): tensor for name, tensor in ours.state_dict().items()}
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected, unexpected
    assert all("embed" in name or name == "lm_head.weight" for name in missing), missing  # tied
    model.tie_weights()
    with torch.no_grad():
        for stack in (model.model.encoder, model.model.decoder):
            table = stack.embed_positions.weights
            table[PAD + 1 :] = ours.positions(0, len(table) - PAD - 1)
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = LAYER_NORM_EPSILON
    return model


def _m2m100_name(name: str) -> str:
    """Translate the name of a weight of ours."""
    for ours, theirs in {
        "embedding.weight": "shared.weight",
        "encoder_norm": "encoder.layer_norm",
        "decoder_norm": "decoder.layer_norm",
        "encoder.": "encoder.layers.",
        "decoder.": "decoder.layers.",
    }.items():
        if name.startswith(ours):
            name = theirs + name.removeprefix(ours)
            break
    for ours, theirs in {
        "around_self_attention.norm": "self_attn_layer_norm",
        "around_source_attention.norm": "encoder_attn_layer_norm",
        "around_feed_forward.norm": "final_layer_norm",
        "self_attention": "self_attn",
        "source_attention": "encoder_attn",
        "feed_forward.0": "fc1",
        "feed_forward.2": "fc2",
        ".query.": ".q_proj.",
        ".key.": ".k_proj.",
        ".value.": ".v_proj.",
        ".output.": ".out_proj.",
    }.items():
        name = name.replace(ours, theirs)
    return f"model.{name}"


def no_cache_translator(folder: ModelFolder) -> Translate:
    """Translate greedily as tutorials do: the whole output so far is decoded at every step."""
    model, tokenizer = load_model(folder).eval(), folder.tokenizer()

    @torch.inference_mode()
    def translate_batch(texts: Sequence[str], beam_size: int) -> list[str]:
        assert beam_size == 1, "tutorials search greedily"
        sources = pad([[*tokenizer.encode(text), EOS] for text in texts])
        memory = model.encode(sources)
        written = torch.full((len(texts), 1), BOS)
        for _ in range(sources.size(1) - 1 + EXTRA_LENGTH):
            x, _ = model.decode(written, memory)
            pieces = model.logits(x[:, -1]).argmax(dim=-1)
            written = torch.cat([written, pieces[:, None]], dim=1)
            if (written == EOS).any(dim=1).all():
                break
        return [tokenizer.decode(_until_end(ids)) for ids in written.tolist()]

    return _in_batches(translate_batch)


def _until_end(ids: list[int]) -> list[int]:
    return ids[: ids.index(EOS)] if EOS in ids else ids


def _in_batches(translate_batch: Translate) -> Translate:
    """Sort by length and cut into batches, as users of PyTorch do who care for speed."""

    def translate(texts: Sequence[str], beam_size: int) -> list[str]:
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        found: dict[int, str] = {}
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            translations = translate_batch([texts[row] for row in rows], beam_size)
            found.update(zip(rows, translations, strict=True))
        return [found[row] for row in range(len(texts))]

    return translate


OURS = "heedful"
FAST = "heedful --fast"


def systems(folder: Path, parts: Sequence[Sequence[str]], beam_size: int) -> dict[str, Translate]:
    """Load every system that can search with this beam, ready for such parts of a text.

    HuggingFace wants the extra `bench`.
    """
    model = ModelFolder(folder)
    found = {
        OURS: heedful_translator(model, "ctranslate2"),
        "CTranslate2, quickstart": quickstart_translator(model),
        "CTranslate2, best by hand": hand_set_translator(model, parts, beam_size),
        "heedful, PyTorch": heedful_translator(model, "pytorch"),
    }
    if model.shortlist_file.exists():
        found[FAST] = heedful_translator(model, "ctranslate2", fast=True)
    if find_spec("transformers") and model.config().normalisation == "pre":
        found["HuggingFace generate"] = huggingface_translator(model)
    if beam_size == 1:
        found["loop without cache"] = no_cache_translator(model)
    return found
