"""The training loop (section 5): batches in, a report for every step out."""

import time
from collections.abc import Iterator
from itertools import islice

import torch
from torch import Tensor, nn

from heedful.machine.processes import ALONE, Processes
from heedful.model.batch import Batch
from heedful.model.sequence_to_sequence import SequenceToSequence
from heedful.training.config import TrainingConfig
from heedful.training.muon import Muon
from heedful.training.replicas import Replicas
from heedful.training.schedule import linear_rate, noam_rate, peak_rate, timed_rate
from heedful.training.step import Step, perplexity

ADAM_BETAS = (0.9, 0.98)  # section 5.3
ADAM_EPSILON = 1e-9  # section 5.3


class Trainer:
    """A model under training, with all that is needed to go on from any step."""

    def __init__(
        self,
        model: SequenceToSequence,
        config: TrainingConfig,
        processes: Processes = ALONE,
    ) -> None:
        self.model = model
        self.config = config
        self.progress = 0.0
        """The part of the time that is over, when minutes are counted; set between steps."""
        self.replicas = Replicas(
            model,
            batch_tokens=config.batch_tokens,
            precision=config.precision,
            processes=processes,
        )
        self.number = 0
        self.rate_scale = 1.0
        """The part of the scheduled learning rate that is taken; set between steps."""
        self.matrices = _matrices(model)
        self.optimizers = _optimizers(model, self.matrices, config.optimizer)

    def steps(self, batches: Iterator[Batch]) -> Iterator[Step]:
        """Train to the last step; log, validate, save and stop from outside, between steps."""
        while self.config.minutes or self.number < self.config.steps:
            began = time.perf_counter()
            group = list(islice(batches, self.config.accumulate))
            if not group:
                return
            self.number += 1
            yield self._step(group, began)

    def _step(self, batches: list[Batch], began: float) -> Step:
        self.model.zero_grad()
        # Chance depends on seed and step alone, so a run that goes on repeats one never stopped.
        seed = self.config.seed + 1_000_003 * self.number
        loss, surprise = self.replicas.learn(batches, self.config, seed)
        rate = self.learning_rate(self.number)
        self._move(rate)
        return Step(
            number=self.number,
            loss=loss,
            perplexity=perplexity(surprise),
            learning_rate=rate,
            num_pieces=sum(batch.num_wanted for batch in batches),
            seconds=time.perf_counter() - began,
        )

    @torch.no_grad()
    def _move(self, rate: float) -> None:
        for optimizer in self.optimizers:
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()

    def rehearse(self, batch: Batch) -> None:
        """A dry run, forward and backward, to see at once whether memory suffices."""
        self.replicas.learn([batch], self.config, self.config.seed)
        self.model.zero_grad()

    def learning_rate(self, step: int) -> float:
        """Return the rate of a step by the schedule of the config."""
        return self.rate_scale * self._scheduled_rate(step)

    def _scheduled_rate(self, step: int) -> float:
        config, d_model = self.config, self.model.config.d_model
        sizes = {"d_model": d_model, "warmup_steps": config.warmup_steps}
        peak = peak_rate(config.peak_rate, **sizes)
        if config.schedule == "noam":
            return noam_rate(step, **sizes) * peak / peak_rate(0.0, **sizes)
        if config.minutes:
            return timed_rate(
                step, peak=peak, warmup_steps=config.warmup_steps, progress=self.progress
            )
        return linear_rate(step, peak=peak, warmup_steps=config.warmup_steps, steps=config.steps)

    def state(self) -> dict[str, Tensor]:
        """Return weights and what the optimisers remember, by name."""
        state = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for optimizer in self.optimizers:
                for kind, tensor in optimizer.state.get(parameter, {}).items():
                    state[f"optimizer.{kind}.{name}"] = tensor
        return state

    def restore(self, number: int, state: dict[str, Tensor]) -> None:
        """Go back to the state after step `number`; after step 0 there is no memory yet."""
        self.number = number
        self.model.load_state_dict(
            {name.removeprefix("model."): t for name, t in state.items() if name[:6] == "model."}
        )
        names = {parameter: name for name, parameter in self.model.named_parameters()}
        for optimizer in self.optimizers:
            for parameter in optimizer.param_groups[0]["params"]:
                optimizer.state[parameter] = {
                    kind: state[key].to(parameter.device)
                    for kind in ("step", "exp_avg", "exp_avg_sq", "momentum")
                    if (key := f"optimizer.{kind}.{names[parameter]}") in state
                }


def _matrices(model: SequenceToSequence) -> list[nn.Parameter]:
    """Return the weights of the products inside the layers, the embedding aside."""
    inside = ("encoder.", "decoder.")
    return [p for name, p in model.named_parameters() if p.ndim == 2 and name.startswith(inside)]


def _optimizers(
    model: SequenceToSequence, matrices: list[nn.Parameter], kind: str
) -> list[torch.optim.Optimizer]:
    """Adam for everything (section 5.3), or Muon for the matrices and Adam for the rest."""
    muon = [Muon(matrices)] if kind == "muon" else []
    others = [p for p in model.parameters() if not muon or p not in set(matrices)]
    adam = torch.optim.Adam(others, lr=0.0, betas=ADAM_BETAS, eps=ADAM_EPSILON, fused=True)
    return [adam, *muon]
