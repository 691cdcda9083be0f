import os
import signal

import pytest

from heedful.errors import StoppedError
from heedful.machine.signals import stop_on_signals


@pytest.fixture(autouse=True)
def _ordinary_interrupts():
    """A process that was started in the background ignores SIGINT; here it must not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def told_to_stop(*numbers: int) -> None:
    """Get signals as a run would, and leave as it would."""
    with stop_on_signals() as stop:
        assert not stop.is_set()
        for number in numbers:
            os.kill(os.getpid(), number)
        assert stop.is_set()
        raise StoppedError


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_a_request_and_its_number_is_in_the_exit_code(number):
    with pytest.raises(StoppedError) as stopped:
        told_to_stop(number)

    assert stopped.value.exit_code == 128 + number


def test_a_second_signal_ends_at_once():
    with pytest.raises(KeyboardInterrupt):
        told_to_stop(signal.SIGTERM, signal.SIGINT)


def test_afterwards_signals_do_what_they_did_before():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]

    with stop_on_signals():
        assert signal.getsignal(signal.SIGINT) not in before

    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
