"""Our weights as CTranslate2 wants them."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from ctranslate2.specs import TransformerSpec
from numpy.typing import NDArray

from heedful.data.pair_ids import PairIds
from heedful.data.shortlist import learn_shortlist
from heedful.decoding.ctranslate2_engine import most_pieces
from heedful.errors import ConfigError
from heedful.model.config import ModelConfig
from heedful.model.transformer import LAYER_NORM_EPSILON, Transformer
from heedful.specials import BOS, EOS, UNK
from heedful.storage.alignment_head import AlignmentHead
from heedful.storage.checkpoint import load_model
from heedful.storage.checksums import refuse_mixed, write_checksums
from heedful.storage.folder import ModelFolder
from heedful.storage.writing import folder_written_whole
from heedful.text.tokenizer import Tokenizer

WEIGHTS = "model.bin"  # as CTranslate2 calls them


def export_ctranslate2(folder: ModelFolder) -> Path:
    """Write `ctranslate2/` into a model folder, whole or not at all, and return its path.

    The weights are kept in float32; CTranslate2 makes int8 of them as it loads them. With it goes
    a shortlist of pieces, learned from the corpus; if that is gone, the one that was there.
    """
    refuse_mixed(folder, engine="pytorch")
    tokenizer = folder.tokenizer()
    model = load_model(folder)
    spec = ctranslate2_spec(model, tokenizer, folder.alignment_head(model.config))
    with folder_written_whole(folder.ctranslate2) as partial:
        spec.save(str(partial))
        if folder.train_ids.is_dir():
            _write_shortlist(
                partial / folder.shortlist_file.name, PairIds(folder.train_ids), tokenizer
            )
        elif folder.shortlist_file.exists():
            shutil.copy(folder.shortlist_file, partial)
    write_checksums(folder)
    return folder.ctranslate2


def export_rounded(folder: ModelFolder, exported: Path) -> None:
    """Write the weights of a model in int8 in place of those of a copy of its export."""
    model = load_model(folder)
    head = folder.alignment_head(model.config)
    with TemporaryDirectory() as temporary:
        spec = ctranslate2_spec(model, folder.tokenizer(), head, is_rounded=True)
        spec.save(temporary)
        shutil.copyfile(Path(temporary) / WEIGHTS, exported / WEIGHTS)


def _write_shortlist(path: Path, pairs: PairIds, tokenizer: Tokenizer) -> None:
    """Write the pieces for any source in a line that begins empty, then those of each piece."""
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    shortlist = learn_shortlist(pairs, tokenizer.vocab_size)
    lines = [("", shortlist.common)]
    lines += [(pieces[id], found) for id, found in sorted(shortlist.translations.items())]
    text = "".join(f"{key}\t{' '.join(pieces[id] for id in ids)}\n" for key, ids in lines if ids)
    path.write_text(text, encoding="utf-8", newline="\n")


def ctranslate2_spec(
    model: Transformer,
    tokenizer: Tokenizer,
    alignment_head: AlignmentHead,
    *,
    is_rounded: bool = False,
) -> TransformerSpec:
    """Put every weight in its place, rounded to int8 if it is to be small."""
    _refuse_other_heads(model.config)
    config, weights = model.config, _Weights(model)
    weights.put_first(alignment_head, config.num_heads)
    is_pre = config.normalisation == "pre"
    spec = TransformerSpec.from_config(
        config.num_layers,
        config.num_heads,
        pre_norm=is_pre,
        alignment_layer=alignment_head.layer,
        alignment_heads=config.num_heads if alignment_head.head is None else 1,
    )
    spec.encoder.embeddings[0].weight = weights["embedding.weight"]
    spec.decoder.embeddings.weight = spec.decoder.projection.weight = weights["embedding.weight"]
    for name, stack in ("encoder", spec.encoder), ("decoder", spec.decoder):
        stack.position_encodings.encodings = weights.positions
        if is_pre:
            weights.fill_norm(stack.layer_norm, f"{name}_norm")
        for number, layer in enumerate(stack.layer):
            weights.fill_layer(layer, f"{name}.{number}", is_decoder=name == "decoder")
    pieces = tokenizer.pieces(range(tokenizer.vocab_size))
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.unk_token, spec.config.bos_token = pieces[UNK], pieces[BOS]
    spec.config.eos_token, spec.config.decoder_start_token = pieces[EOS], pieces[BOS]
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = LAYER_NORM_EPSILON
    spec.validate()
    spec.optimize(quantization="int8" if is_rounded else None)
    return spec


def can_compute(config: ModelConfig) -> bool:
    """Tell whether CTranslate2 knows such a network: its heads share d_model evenly."""
    width = config.d_model // config.num_heads
    return (config.d_k, config.d_v) == (width, width)


def _refuse_other_heads(config: ModelConfig) -> None:
    if not can_compute(config):
        width = config.d_model // config.num_heads
        raise ConfigError(
            f"CTranslate2 needs d_k = d_v = d_model / num_heads = {width}, but this model has "
            f"d_k {config.d_k} and d_v {config.d_v}; it translates with the PyTorch engine alone"
        )


class _Weights:
    """The weights of a model by name, and where they go in a specification of CTranslate2's."""

    def __init__(self, model: Transformer) -> None:
        self._tensors: dict[str, NDArray[np.float32]] = {
            name: tensor.numpy() for name, tensor in model.state_dict().items()
        }
        with torch.no_grad():
            self.positions = model.positions(0, most_pieces(model.config)).numpy()

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        return self._tensors[name]

    def put_first(self, wanted: AlignmentHead, num_heads: int) -> None:
        """Change the order of a layer's heads, as CTranslate2 tells of the first ones alone.

        What the layer computes stays the same, since its heads are summed.
        """
        if wanted.head is None:
            return
        order = [wanted.head, *(head for head in range(num_heads) if head != wanted.head)]
        attention = f"decoder.{wanted.layer}.source_attention"
        for part in ("query", "key", "value"):
            for kind in ("weight", "bias"):
                name = f"{attention}.{part}.{kind}"
                heads = np.split(self[name], num_heads)
                self._tensors[name] = np.concatenate([heads[head] for head in order])
        name = f"{attention}.output.weight"
        heads = np.split(self[name], num_heads, axis=1)
        self._tensors[name] = np.concatenate([heads[head] for head in order], axis=1)

    def fill_layer(self, spec: Any, name: str, *, is_decoder: bool) -> None:
        self.fill_norm(spec.self_attention.layer_norm, f"{name}.around_self_attention.norm")
        self._fill_attention(
            spec.self_attention.linear, f"{name}.self_attention", "query key value"
        )
        if is_decoder:
            self.fill_norm(spec.attention.layer_norm, f"{name}.around_source_attention.norm")
            self._fill_attention(
                spec.attention.linear, f"{name}.source_attention", "query", "key value"
            )
        self.fill_norm(spec.ffn.layer_norm, f"{name}.around_feed_forward.norm")
        self._fill_linear(spec.ffn.linear_0, f"{name}.feed_forward.0")
        self._fill_linear(spec.ffn.linear_1, f"{name}.feed_forward.2")

    def fill_norm(self, spec: Any, name: str) -> None:
        spec.gamma, spec.beta = self[f"{name}.weight"], self[f"{name}.bias"]

    def _fill_attention(self, specs: list[Any], name: str, *fused: str) -> None:
        """Fill one projection for each group of ours, and that of the output."""
        for spec, group in zip(specs, (*fused, "output"), strict=True):
            self._fill_linear(spec, *(f"{name}.{part}" for part in group.split()))

    def _fill_linear(self, spec: Any, *names: str) -> None:
        spec.weight = np.concatenate([self[f"{name}.weight"] for name in names])
        spec.bias = np.concatenate([self[f"{name}.bias"] for name in names])
