"""Whole training programs, each as its users would set it up, on the very same pieces."""

import re
from dataclasses import dataclass
from string import Template


@dataclass(frozen=True, kw_only=True)
class Program:
    """How a program is installed, configured, run and read."""

    name: str
    requirements: str = ""
    """File in `benchmarks/requirements` with its whole environment; ours is here already."""
    config_name: str
    config: Template
    """Knows `$source` and `$target`, the corpus as text, and `$pieces`, its folder as pieces."""
    arguments: tuple[str, ...]
    """For Python, in the folder that holds the config."""
    report: re.Pattern[str]
    """Finds in a line of the log the target pieces a second: EOS included, padding not."""


HEEDFUL = Program(
    name="heedful",
    config_name="recipe.toml",
    config=Template("""\
recipe = "paper"

[data]
source = "$source"
target = "$target"

[tokenizer]
vocab_size = 8_000

[model]
preset = "tiny"

[training]
batch_tokens = 4_096
validate_every = 100_000
"""),
    arguments=("-m", "heedful", "train", "--recipe", "recipe.toml", "--out", "model"),
    report=re.compile(r"^step .* ([\d,]+) tokens/s"),
)

JOEYNMT = Program(
    name="JoeyNMT 2.3.0",
    requirements="joeynmt.txt",
    config_name="config.yaml",
    config=Template("""\
name: tiny
joeynmt_version: 2.3.0
model_dir: model
use_cuda: false
data:
  train: $pieces/train
  dev: $pieces/valid
  dataset_type: plain
  src: {lang: en, level: word, voc_file: $pieces/vocabulary.txt}
  trg: {lang: de, level: word, voc_file: $pieces/vocabulary.txt}
model:
  initializer: xavier_uniform
  embed_initializer: xavier_uniform
  tied_embeddings: true
  tied_softmax: true
  encoder:
    type: transformer
    num_layers: 4
    num_heads: 4
    embeddings: {embedding_dim: 128, scale: true}
    hidden_size: 128
    ff_size: 256
    dropout: 0.1
    layer_norm: post
  decoder:
    type: transformer
    num_layers: 4
    num_heads: 4
    embeddings: {embedding_dim: 128, scale: true}
    hidden_size: 128
    ff_size: 256
    dropout: 0.1
    layer_norm: post
training:
  loss: crossentropy
  label_smoothing: 0.1
  normalization: tokens
  optimizer: adam
  adam_betas: [0.9, 0.98]
  scheduling: warmupinversesquareroot
  learning_rate: 0.001
  learning_rate_min: 0.0
  learning_rate_warmup: 4000
  batch_type: token
  batch_size: 4096
  epochs: 1000
  logging_freq: 5
  validation_freq: 100000
  overwrite: true
testing: {}
"""),
    arguments=("-m", "joeynmt", "train", "config.yaml", "--skip-test"),
    report=re.compile(r"Tokens per Sec: +([\d,]+)"),
)

OPENNMT = Program(
    name="OpenNMT-py 3.5.1",
    requirements="opennmt-py.txt",
    config_name="config.yaml",
    config=Template("""\
data:
  train: {path_src: $pieces/train.en, path_tgt: $pieces/train.de}
src_vocab: $pieces/vocabulary.txt
share_vocab: true
save_model: model
encoder_type: transformer
decoder_type: transformer
position_encoding: true
enc_layers: 4
dec_layers: 4
heads: 4
hidden_size: 128
word_vec_size: 128
transformer_ff: 256
dropout: [0.1]
attention_dropout: [0.1]
share_embeddings: true
share_decoder_embeddings: true
param_init: 0
param_init_glorot: true
label_smoothing: 0.1
optim: adam
adam_beta2: 0.98
decay_method: noam
warmup_steps: 4000
learning_rate: 2.0
max_grad_norm: 0
batch_type: tokens
batch_size: 4096
bucket_size: 32768
normalization: tokens
train_steps: 100000
save_checkpoint_steps: 100000
report_every: 5
"""),
    arguments=("-m", "onmt.bin.train", "-config", "config.yaml"),
    report=re.compile(r"\d+/ *([\d,]+) tok/s"),
)

EOLE = Program(
    name="eole 0.6.4",
    requirements="eole.txt",
    config_name="config.yaml",
    config=Template("""\
data:
  train: {path_src: $pieces/train.en, path_tgt: $pieces/train.de}
src_vocab: $pieces/vocabulary.txt
tgt_vocab: $pieces/vocabulary.txt
share_vocab: true
overwrite: true
report_every: 5
model:
  architecture: transformer
  layers: 4
  heads: 4
  hidden_size: 128
  transformer_ff: 256
  share_embeddings: true
  share_decoder_embeddings: true
  embeddings:
    word_vec_size: 128
    position_encoding_type: SinusoidalInterleaved
training:
  model_path: model
  world_size: 0
  compute_dtype: fp32
  dropout: [0.1]
  attention_dropout: [0.1]
  param_init_method: xavier_uniform
  label_smoothing: 0.1
  optim: adam
  adam_beta2: 0.98
  decay_method: noam
  warmup_steps: 4000
  learning_rate: 2.0
  max_grad_norm: 0
  batch_type: tokens
  batch_size: 4096
  bucket_size: 32768
  normalization: tokens
  train_steps: 100000
  valid_steps: 100000
  save_checkpoint_steps: 100000
"""),
    arguments=("-m", "eole.bin.main", "train", "-config", "config.yaml"),
    report=OPENNMT.report,
)

PROGRAMS = (HEEDFUL, JOEYNMT, OPENNMT, EOLE)
NOT_RUN = {
    "fairseq 0.12.2": "cannot be imported by Python 3.11, whose dataclasses refuse its mutable "
    "defaults (facebookresearch/fairseq, issue 5012)",
}
