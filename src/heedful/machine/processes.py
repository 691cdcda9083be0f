"""The processes of one run: alone, or as many as `torchrun` has started."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from heedful.errors import HeedfulError, TrainingError

Given = ParamSpec("Given")
Made = TypeVar("Made")

# How long to wait for one another; when a process dies, the others notice it at once.
_STEP = timedelta(minutes=10)
_WORK_OF_FIRST = timedelta(days=2)  # to prepare a corpus, say


class _Failure:
    """What the other processes learn of an error of the first."""

    def __init__(self, error: BaseException) -> None:
        self.exit_code = error.exit_code if isinstance(error, HeedfulError) else 1


@dataclass
class Processes:
    """The place of this process among those that train one model together.

    All of them take the same steps. What only one may do, such as writing files, the first does.
    """

    index: int = 0
    num: int = 1
    patient: dist.ProcessGroup | None = None
    """The same processes, for what may take long."""

    @property
    def is_first(self) -> bool:
        """Whether this process reads, writes and speaks for all."""
        return self.index == 0

    @property
    def device(self) -> torch.device:
        """What this process computes on: a GPU of its own, or the CPU."""
        if not torch.cuda.is_available():
            return torch.device("cpu")
        return torch.device("cuda", torch.cuda.current_device())

    def share(self, num_each: int) -> range:
        """Return which parts are ours when every process takes `num_each` of a batch's parts."""
        return range(self.index * num_each, (self.index + 1) * num_each)

    def sum(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors by their sums over all processes, in one exchange."""
        if self.num > 1:
            flat = torch.cat([tensor.flatten() for tensor in tensors])
            with self._noticing_loss():
                dist.all_reduce(flat)
            sizes = [tensor.numel() for tensor in tensors]
            for tensor, total in zip(tensors, flat.split(sizes), strict=True):
                tensor.copy_(total.view_as(tensor))

    def any(self, ours: bool) -> bool:
        """Tell all whether it is so in any process."""
        count = torch.tensor([int(ours)])
        self.sum([count])
        return bool(count.item())

    def by_first(
        self, make: Callable[Given, Made], *args: Given.args, **kwargs: Given.kwargs
    ) -> Made:
        """Call a function in the first process alone, and return what it made in all of them.

        When it fails, the first raises its error, and the others leave without a word.
        """
        if self.num == 1:
            return make(*args, **kwargs)
        told: list[Made | _Failure | None] = [None]
        if self.is_first:
            try:
                told = [make(*args, **kwargs)]
            except BaseException as error:
                self._tell([_Failure(error)])
                raise
        self._tell(told)
        if isinstance(told[0], _Failure):
            sys.exit(told[0].exit_code)
        return cast(Made, told[0])

    def _tell(self, message: list[Any]) -> None:
        """Put what the first process has in its list into everybody's."""
        with self._noticing_loss():
            dist.broadcast_object_list(message, src=0, group=self.patient)

    @contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            raise TrainingError(
                f"process {self.index + 1} of {self.num}: another process of this run has ended or "
                "hangs; see what it said, and run the same command to go on"
            ) from error


ALONE = Processes()


@contextmanager
def join() -> Iterator[Processes]:
    """Join the processes that `torchrun` has started with this one; without it, be alone."""
    if not dist.is_torchelastic_launched():
        yield ALONE
        return
    store, index, num = next(rendezvous("env://"))
    if os.environ["LOCAL_WORLD_SIZE"] == os.environ["WORLD_SIZE"]:
        # On one machine torchrun keeps its store over restarts, with addresses of the dead in it.
        store = PrefixStore(os.environ["TORCHELASTIC_RESTART_COUNT"], store)
    backend = "gloo"
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        backend = "cpu:gloo,cuda:nccl"
    dist.init_process_group(backend, store=store, rank=index, world_size=num, timeout=_STEP)
    processes = Processes(index, num, dist.new_group(backend="gloo", timeout=_WORK_OF_FIRST))
    try:
        yield processes
    finally:
        dist.destroy_process_group()
        processes.patient = None  # whose threads end with it; they must not outlive Python
