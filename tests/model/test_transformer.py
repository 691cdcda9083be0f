import math

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.testing import assert_close

from heedful.errors import ConfigError
from heedful.model.config import ModelConfig
from heedful.model.dropout import Dropout
from heedful.model.transformer import (
    Positions,
    Transformer,
    half_sinusoids,
    interleaved_sinusoids,
)
from heedful.specials import BOS, EOS, PAD

TINY = {"vocab_size": 11, "num_layers": 2, "d_model": 8, "d_ff": 16, "num_heads": 2}


@pytest.fixture(params=["post", "pre"])
def model(request) -> Transformer:
    return Transformer(ModelConfig(**TINY, normalisation=request.param)).eval()


def test_a_target_position_never_sees_the_future(model):
    source, target = torch.tensor([[4, 5, 6, EOS]]), torch.tensor([[BOS, 7, 8, 9]])
    changed = target.clone()
    changed[0, 2] = 10

    before, after = model(source, target), model(source, changed)

    assert_close(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2:], after[:, 2:])  # the test can fail


def test_padding_the_source_changes_nothing(model):
    target = torch.tensor([[BOS, 7, 8]])

    bare = model(torch.tensor([[4, 5, EOS]]), target)
    padded = model(torch.tensor([[4, 5, EOS, PAD, PAD]]), target)

    assert_close(bare, padded)


def test_padding_the_target_changes_nothing_before_it(model):
    source = torch.tensor([[4, 5, EOS]])

    bare = model(source, torch.tensor([[BOS, 7, 8]]))
    padded = model(source, torch.tensor([[BOS, 7, 8, PAD, PAD]]))

    assert_close(bare, padded[:, :3])


def test_one_pass_over_all_positions_equals_decoding_step_by_step(model):
    source, target = torch.tensor([[4, 5, EOS], [6, EOS, PAD]]), torch.tensor([[BOS, 7, 8, 9]] * 2)

    state, steps = model.encode(source), []
    for position in range(target.size(1)):
        x, state = model.decode(target[:, position : position + 1], state)
        steps.append(model.logits(x))

    assert_close(torch.cat(steps, dim=1), model(source, target))
    assert state.length == 4


def test_selecting_all_rows_as_they_are_copies_nothing(model):
    _, state = model.decode(
        torch.tensor([[BOS], [BOS]]), model.encode(torch.tensor([[4, 5], [6, 7]]))
    )

    assert state.select(torch.tensor([0, 1])) is state
    assert state.select(torch.tensor([1, 0])) is not state


def test_selecting_rows_of_the_state_reorders_what_they_say(model):
    source = torch.tensor([[4, 5, EOS], [6, 7, EOS]])
    _, state = model.decode(torch.tensor([[BOS], [BOS]]), model.encode(source))
    last = torch.tensor([[8], [8]])

    straight, _ = model.decode(last, state)
    swapped, _ = model.decode(last, state.select(torch.tensor([1, 0])))

    assert_close(swapped, straight.flip(0))
    assert not torch.allclose(swapped, straight)


def test_self_attention_without_positions_commutes_with_reordering(model):
    x = torch.randn(1, 5, 8)
    visible = torch.ones(1, 1, 1, 5, dtype=torch.bool)
    order = torch.tensor([3, 0, 4, 1, 2])
    layer = model.encoder[0]

    assert_close(layer(x[:, order], visible), layer(x, visible)[:, order])


def test_with_positions_the_order_of_the_source_matters(model):
    target = torch.tensor([[BOS]])

    one, other = (model(torch.tensor([ids]), target) for ids in ([4, 5, EOS], [5, 4, EOS]))

    assert not torch.allclose(one, other)


def test_one_matrix_embeds_both_sides_and_scores_the_next_piece(model):
    matrices = [name for name, p in model.named_parameters() if TINY["vocab_size"] in p.shape]

    assert matrices == ["embedding.weight"]


class DropAll(nn.Module):
    """Dropout at its worst."""

    def forward(self, x):
        return torch.zeros_like(x)


def with_dropout(model: Transformer, dropout: nn.Module) -> Transformer:
    """Put another module in place of every dropout."""
    for name in [name for name, module in model.named_modules() if isinstance(module, Dropout)]:
        model.set_submodule(name, dropout)
    return model.train()


def embedded(model: Transformer, ids: torch.Tensor) -> torch.Tensor:
    """Catch what the first layer reads."""
    read = []
    model.encoder[0].register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    model.encode(ids)
    return read[0]


def test_embeddings_are_multiplied_by_the_root_of_the_width(model):
    first_position = torch.tensor([0.0, 1.0] * 4)  # sin 0, cos 0, ...

    (first,) = embedded(model, torch.tensor([[4]]))[0]

    assert_close(first, model.embedding.weight[4] * math.sqrt(8) + first_position)


def test_dropout_is_on_the_sum_of_embeddings_and_positions(model):
    model = with_dropout(model, DropAll())

    assert not embedded(model, torch.tensor([[4, 5, EOS]])).any()


def test_dropout_is_on_what_a_sublayer_adds_and_not_on_what_it_adds_to(model):
    """Without what they add, layers of pre-norm change nothing, and those of post-norm the norm."""
    model = with_dropout(model, DropAll())
    x, visible = torch.randn(1, 3, 8), torch.ones(1, 1, 3, 3, dtype=torch.bool)
    source = model.decoder[0].source_attention.offer(x)

    encoded = model.encoder[0](x, visible[:, :, :1])
    decoded, _ = model.decoder[0](x, source, visible[:, :, :1], source.nothing(), visible)

    is_pre = model.config.normalisation == "pre"
    expected = x if is_pre else functional.layer_norm(x, (8,))
    assert_close(encoded, expected, rtol=0, atol=1e-4)
    assert_close(decoded, expected, rtol=0, atol=1e-4)


def test_dropout_is_nowhere_else(model):
    source, target = torch.tensor([[4, 5, EOS]]), torch.tensor([[BOS, 7, 8]])
    at_rest = model(source, target)

    model = with_dropout(model, nn.Identity())

    assert_close(model(source, target), at_rest)


def test_an_embedded_piece_begins_as_large_as_its_width():
    """Its numbers have a variance of 1 / d_model: once multiplied by the root, one of 1."""
    weight = Transformer(ModelConfig(**TINY | {"vocab_size": 20_000})).embedding.weight

    assert weight.mean().item() == pytest.approx(0, abs=0.01)
    assert weight.var().item() == pytest.approx(1 / 8, rel=0.02)


def test_other_matrices_begin_as_glorot_and_bengio_say(model):
    """Evenly drawn from plus and minus the root of 6 / (rows + columns)."""
    for name, matrix in model.named_parameters():
        if matrix.dim() == 2 and name != "embedding.weight":
            limit = math.sqrt(6 / sum(matrix.shape))
            assert 0.8 * limit < matrix.abs().max() <= limit
            assert matrix.var().item() == pytest.approx(limit**2 / 3, rel=0.4)


def test_learned_positions_end_where_their_table_ends():
    model = Transformer(ModelConfig(**TINY, positions="learned", max_length=4)).eval()
    target = torch.tensor([[BOS]])
    model(torch.tensor([[4, 5, 6, EOS]]), target)

    with pytest.raises(ConfigError, match=r"max_length = 4, but the text has 5 pieces; split it"):
        model(torch.tensor([[4, 5, 6, 7, EOS]]), target)


def test_positions_that_a_search_made_can_be_trained_with(model):
    source, target = torch.full((1, 300), 4), torch.tensor([[BOS]])
    with torch.inference_mode():
        model(source, target)

    assert len(model.positions.table) > 300
    assert not model.positions.table.is_inference()
    model(source, target).sum().backward()


def test_a_wrong_shape_is_noticed_in_the_test_run(model):
    with pytest.raises(TypeError):
        model(torch.tensor([4, 5, EOS]), torch.tensor([[BOS]]))


def test_sinusoids_have_no_end():
    positions = Positions(ModelConfig(**TINY))

    far = positions(start=5_000, length=2)

    assert_close(far, interleaved_sinusoids(torch.tensor([5_000, 5_001]), 8))


class TestSinusoids:
    """Section 3.5."""

    def test_sine_and_cosine_are_interleaved_as_printed(self):
        pe = interleaved_sinusoids(torch.tensor([3]), d_model=4)[0]

        expected = [math.sin(3), math.cos(3), math.sin(3 / 100), math.cos(3 / 100)]
        assert_close(pe, torch.tensor(expected))

    def test_the_first_code_puts_all_sines_before_all_cosines(self):
        pe = half_sinusoids(torch.tensor([3]), d_model=4)[0]

        expected = [math.sin(3), math.sin(3e-4), math.cos(3), math.cos(3e-4)]
        assert_close(pe, torch.tensor(expected))

    @pytest.mark.parametrize("offset", [1, 5, 17])
    def test_an_offset_is_one_linear_map_whatever_the_position(self, offset):
        table = interleaved_sinusoids(torch.arange(64), d_model=8).double()

        linear_map = torch.linalg.lstsq(table[:-offset], table[offset:]).solution

        assert_close(table[:-offset] @ linear_map, table[offset:], atol=1e-5, rtol=0)

    def test_wavelengths_run_from_two_pi_to_ten_thousand_times_that(self):
        d_model = 512
        one_step = interleaved_sinusoids(torch.tensor([1]), d_model)[0].double()

        sines, cosines = one_step[0::2], one_step[1::2]
        wavelengths = 2 * math.pi / torch.atan2(sines, cosines)

        ratios = wavelengths[1:] / wavelengths[:-1]
        assert wavelengths[0].item() == pytest.approx(2 * math.pi)
        # The last is one geometric step short of the printed end.
        assert (wavelengths[-1] * ratios[-1]).item() == pytest.approx(1e4 * 2 * math.pi, rel=1e-3)
        assert_close(ratios, torch.full_like(ratios, 1e4 ** (2 / d_model)), atol=0, rtol=1e-3)
