import pytest
import torch
from torch.testing import assert_close

from heedful.model.batch import make_batch
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.training.config import TrainingConfig
from heedful.training.replicas import Replicas

ENOUGH = 1 << 20  # tokens a batch, for as many parts as there are threads


@pytest.fixture
def set_threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def model(dropout: float = 0.0) -> Transformer:
    torch.manual_seed(7)
    sizes = {"num_layers": 1, "d_model": 8, "d_ff": 16, "num_heads": 2}
    return Transformer(ModelConfig(vocab_size=11, **sizes, dropout=dropout))


def batch(num_pairs: int = 5):
    return make_batch([([4 + n % 7] * (1 + n), [5, 6] * (1 + n)) for n in range(num_pairs)])


def learn(
    learner: Transformer, *batches, seed: int = 1, rivals: float = 1.0
) -> tuple[tuple[float, float], list]:
    learner.zero_grad()
    replicas = Replicas(learner, batch_tokens=ENOUGH)
    losses = replicas.learn(batches, TrainingConfig(rivals=rivals), seed)
    return losses, [parameter.grad for parameter in learner.parameters()]


@pytest.mark.parametrize("rivals", [1.0, 0.3])
@pytest.mark.parametrize("num_threads", [2, 3, 8])
def test_parts_side_by_side_teach_what_the_whole_batch_teaches(set_threads, num_threads, rivals):
    set_threads(1)
    whole = learn(model(), batch(), batch(3), rivals=rivals)
    set_threads(num_threads)

    assert_close(learn(model(), batch(), batch(3), rivals=rivals), whole)


def test_a_share_of_the_rivals_gives_another_loss(set_threads):
    set_threads(1)

    assert learn(model(), batch(1), rivals=0.3)[0] != learn(model(), batch(1))[0]


def test_the_same_seed_drops_the_same_in_every_part(set_threads):
    set_threads(2)
    first, again, other = (learn(model(dropout=0.5), batch(), seed=seed) for seed in (1, 1, 2))

    assert_close(first, again, rtol=0, atol=0)
    assert first[0] != other[0]


def test_batches_of_one_step_drop_differently(set_threads):
    set_threads(1)

    assert learn(model(dropout=0.5), batch(), batch())[0] != learn(model(dropout=0.5), batch())[0]


def test_parts_of_one_batch_drop_differently(set_threads):
    set_threads(2)
    twins = make_batch([([5, 6], [7, 8])] * 2)
    replicas = Replicas(learner := model(dropout=0.5), batch_tokens=ENOUGH)
    replicas.learn([twins], TrainingConfig(), seed=1)

    states = [generator.get_state() for generator in replicas.generators]
    assert learner is replicas.models[0]
    assert not torch.equal(*states)


def test_replicas_share_weights_but_not_gradients(set_threads):
    set_threads(2)
    replicas = Replicas(model(), batch_tokens=ENOUGH)
    first, second = replicas.models

    with torch.no_grad():
        first.embedding.weight.fill_(0.5)
    replicas.learn([batch()], TrainingConfig(), seed=1)

    assert second.embedding.weight.unique().tolist() == [0.5]
    assert second.embedding.weight.grad is None


@pytest.mark.parametrize(("batch_tokens", "num"), [(100, 1), (1_024, 2), (4_096, 4)])
def test_small_batches_are_cut_into_fewer_parts(set_threads, batch_tokens, num):
    set_threads(4)

    assert Replicas(model(), batch_tokens=batch_tokens).num == num


def test_an_error_in_a_part_comes_out(set_threads):
    set_threads(2)
    beyond_vocabulary = make_batch([([99], [5])] * 2)

    with pytest.raises(IndexError):
        learn(model(), beyond_vocabulary)
