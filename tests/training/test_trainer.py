import math
from itertools import islice

import pytest
import torch
from torch.testing import assert_close

from heedful.errors import ConfigError
from heedful.model.batch import Batch, make_batch
from heedful.model.config import ModelConfig
from heedful.model.transformer import Transformer
from heedful.training.averaging import running_means
from heedful.training.config import TrainingConfig
from heedful.training.loss import validation_loss
from heedful.training.step import perplexity
from heedful.training.trainer import Trainer

SMALL = {"vocab_size": 11, "num_layers": 1, "d_model": 8, "d_ff": 16, "num_heads": 2}


def small_model(dropout: float = 0.1) -> Transformer:
    torch.manual_seed(7)
    return Transformer(ModelConfig(**SMALL, dropout=dropout))


def endless():
    random = torch.Generator().manual_seed(3)
    while True:
        length = int(torch.randint(1, 6, (), generator=random))
        words = torch.randint(4, 11, (4, length), generator=random).tolist()
        yield make_batch([(row, row) for row in words])


def weights_after(steps: int, dropout: float = 0.1, **changes) -> dict[str, torch.Tensor]:
    model = small_model(dropout)
    trainer = Trainer(model, TrainingConfig(steps=steps, warmup_steps=4, **changes))
    list(trainer.steps(endless()))
    return model.state_dict()


def test_weights_move_as_by_adam_of_pytorch_with_the_numbers_of_section_5_3():
    """A key's bias has a gradient of nothing but rounding, which shows ε."""
    ours, theirs = small_model(), small_model()
    adam = torch.optim.Adam(theirs.parameters(), betas=(0.9, 0.98), eps=1e-9)

    for step in Trainer(ours, TrainingConfig(steps=5, warmup_steps=4)).steps(endless()):
        adam.param_groups[0]["lr"] = step.learning_rate
        for parameter, moved in zip(theirs.parameters(), ours.parameters(), strict=True):
            parameter.grad = moved.grad.clone()
        adam.step()

    for parameter, moved in zip(theirs.parameters(), ours.parameters(), strict=True):
        assert_close(moved, parameter)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_a_step_learns_the_smoothed_loss_of_pytorch_as_the_config_says(smoothing):
    ours, theirs, batch = small_model(dropout=0.0), small_model(dropout=0.0), next(endless())
    config = TrainingConfig(steps=1, warmup_steps=4, label_smoothing=smoothing)

    (step,) = Trainer(ours, config).steps(iter([batch]))

    logits, wanted = theirs(batch.source, batch.given).flatten(0, 1), batch.wanted.flatten()
    expected = torch.nn.functional.cross_entropy(logits, wanted, label_smoothing=smoothing)
    expected.backward()
    assert step.loss == pytest.approx(expected.item(), rel=1e-5)
    assert math.log(step.perplexity) == pytest.approx(
        torch.nn.functional.cross_entropy(logits, wanted).item(), rel=1e-5
    )
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-6)


def test_every_step_drops_something_else():
    """Of one batch, at a rate that moves nothing, only dropout can change the loss."""
    batch = next(endless())

    def losses(dropout: float) -> list[float]:
        config = TrainingConfig(steps=3, peak_rate=1e-30)
        return [s.loss for s in Trainer(small_model(dropout), config).steps(iter([batch] * 3))]

    assert len(set(losses(dropout=0.5))) == 3
    assert len(set(losses(dropout=0.0))) == 1


def test_every_step_is_reported():
    trainer = Trainer(small_model(), TrainingConfig(steps=5, warmup_steps=4))

    steps = list(trainer.steps(endless()))

    assert [step.number for step in steps] == [1, 2, 3, 4, 5]
    assert [step.learning_rate for step in steps] == [trainer.learning_rate(n) for n in range(1, 6)]
    expected = [batch.num_wanted for batch in islice(endless(), 5)]
    assert [step.num_pieces for step in steps] == expected


def test_the_same_seed_gives_the_same_weights_and_another_seed_others():
    first, again, other = (weights_after(6, seed=seed) for seed in (1, 1, 2))

    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_going_on_from_a_saved_state_equals_never_having_stopped(optimizer):
    whole = weights_after(8, optimizer=optimizer)
    config = TrainingConfig(steps=8, warmup_steps=4, optimizer=optimizer)
    stopped = Trainer(small_model(), config)
    list(islice(stopped.steps(endless()), 5))
    state = {name: tensor.clone() for name, tensor in stopped.state().items()}

    torch.manual_seed(99)
    resumed = Trainer(Transformer(ModelConfig(**SMALL)), config)
    resumed.restore(5, state)
    list(resumed.steps(islice(endless(), 5, None)))

    ours = resumed.model.state_dict()
    assert all(torch.equal(whole[name], ours[name]) for name in whole)


def test_muon_has_the_matrices_of_the_layers_and_adam_the_rest():
    model = small_model()
    adam, muon = Trainer(model, TrainingConfig(optimizer="muon")).optimizers

    inside = [
        p for name, p in model.named_parameters() if "coder." in name and name.endswith("weight")
    ]
    assert muon.param_groups[0]["params"] == [p for p in inside if p.ndim == 2]
    assert len(adam.param_groups[0]["params"]) + len(muon.param_groups[0]["params"]) == len(
        list(model.parameters())
    )


def test_accumulating_two_batches_equals_one_batch_of_both():
    """Loss is divided by real target pieces, however unevenly the batches share them."""
    short, long = ([5], [6]), ([5, 6, 7, 8], [8, 9, 10, 4])
    config = {"steps": 1, "warmup_steps": 1}

    apart, together = small_model(dropout=0.0), small_model(dropout=0.0)
    apart_trainer = Trainer(apart, TrainingConfig(accumulate=2, **config))
    list(apart_trainer.steps(iter([make_batch([short]), make_batch([long])])))
    list(Trainer(together, TrainingConfig(**config)).steps(iter([make_batch([short, long])])))

    for ours, theirs in zip(apart.parameters(), together.parameters(), strict=True):
        assert_close(ours.grad, theirs.grad)


def test_a_peak_rate_scales_either_schedule():
    for schedule in ("noam", "linear"):
        config = TrainingConfig(steps=50, warmup_steps=10, schedule=schedule, peak_rate=0.01)
        trainer = Trainer(small_model(), config)
        rates = [trainer.learning_rate(step) for step in range(1, 51)]
        assert max(rates) == rates[9] == pytest.approx(0.01)


def test_half_of_a_schedule_is_half_the_rate_of_every_step():
    trainer = Trainer(small_model(), TrainingConfig(steps=50, warmup_steps=10))
    whole = [trainer.learning_rate(step) for step in range(1, 51)]

    trainer.rate_scale = 0.5

    assert [trainer.learning_rate(step) for step in range(1, 51)] == [rate / 2 for rate in whole]


def test_with_minutes_there_is_no_last_step_and_the_rate_follows_the_time():
    config = TrainingConfig(steps=0, minutes=1.0, warmup_steps=1, schedule="linear", peak_rate=0.5)
    trainer, rates = Trainer(small_model(), config), []

    for step, progress in zip(trainer.steps(endless()), [0.25, 0.5, 1.0, 1.0], strict=False):
        rates.append(step.learning_rate)
        trainer.progress = progress

    assert rates == [0.5, 0.375, 0.25, 0.0]


def test_a_rehearsal_teaches_nothing():
    model = small_model()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    trainer = Trainer(model, TrainingConfig(steps=5))

    trainer.rehearse(next(endless()))

    assert trainer.number == 0
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(optimizer.state for optimizer in trainer.optimizers)


def test_teachers_have_a_share_of_the_steps_or_minutes():
    by_steps = TrainingConfig(steps=100, warmup_steps=4, teachers=0.5)
    by_time = TrainingConfig(steps=0, minutes=60.0, teachers=0.5)

    assert (by_steps.steps, by_steps.teacher_steps, by_steps.teacher_minutes) == (100, 50, 0)
    assert (by_time.own_minutes, by_time.teacher_steps, by_time.teacher_minutes) == (30, 0, 15)
    assert TrainingConfig(steps=10_000, teachers=0.28).teacher_steps == 2_800
    assert TrainingConfig().teacher_steps == TrainingConfig().teacher_minutes == 0


def test_without_a_peak_rate_it_is_that_of_equation_3():
    config = TrainingConfig(steps=50, warmup_steps=10, schedule="linear")

    assert Trainer(small_model(), config).learning_rate(10) == pytest.approx((8 * 10) ** -0.5)


def test_validation_uses_neither_dropout_nor_smoothing():
    model = small_model(dropout=0.5)
    batch: Batch = next(endless())

    losses = {validation_loss(model, iter([batch])) for _ in range(3)}
    expected = torch.nn.functional.cross_entropy(
        model(batch.source, batch.given).flatten(0, 1), batch.wanted.flatten()
    )

    assert len(losses) == 1
    assert losses.pop() == pytest.approx(expected.item(), rel=1e-5)


def test_perplexity_of_a_lost_model_is_infinite_not_an_error():
    assert perplexity(0.0) == 1.0
    assert perplexity(1e9) == float("inf")


def test_the_mean_of_checkpoints_is_taken_weight_by_weight():
    checkpoints = [{"w": torch.tensor([1.0, 5.0])}, {"w": torch.tensor([3.0, -5.0])}]

    first, both = running_means(checkpoints)

    assert first["w"].tolist() == [1.0, 5.0]
    assert both["w"].tolist() == [2.0, 0.0]
    assert both["w"].dtype == torch.float32


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"steps": 0}, r"steps must be at least 1, got 0; or give minutes above 0"),
        ({"steps": 0, "minutes": -3.0}, r"minutes must be a number above 0, got -3"),
        ({"teachers": -1.0}, r"teachers must not be negative, got -1"),
        ({"teachers": float("nan")}, r"teachers must not be negative, got nan"),
        (
            {"schedule": "linear", "warmup_steps": 5, "steps": 8, "teachers": 0.5},
            r"warmup_steps must not exceed the steps of the teachers, got 5 of 4",
        ),
        ({"steps": 0, "minutes": float("nan")}, r"minutes must be a number above 0, got nan"),
        ({"minutes": 5.0}, r"steps = 100000 and minutes = 5 are both given; choose one"),
        ({"seed": -1}, r"seed must be from 0 to 4294967295, got -1"),
        ({"accumulate": 0}, r"accumulate must be at least 1, got 0"),
        ({"label_smoothing": 1.0}, r"label_smoothing must be in \[0, 1\), got 1.0"),
        ({"rivals": 0.0}, r"rivals must be above 0 and at most 1, got 0"),
        ({"schedule": "cosine"}, r"schedule must be one of 'noam', 'linear', got 'cosine'"),
        ({"precision": "half"}, r"precision must be one of 'float32', 'bfloat16', got 'half'"),
        ({"peak_rate": -0.1}, r"peak_rate must not be negative, got -0.1"),
        ({"patience": -1}, r"patience must not be negative, got -1"),
        (
            {"schedule": "linear", "warmup_steps": 20, "steps": 10},
            r"warmup_steps must not exceed the steps, got 20 of 10",
        ),
    ],
)
def test_settings_that_cannot_work_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        TrainingConfig(**values)
