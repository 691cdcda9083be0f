"""The way in, for `heedful` and `python -m heedful`."""

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

from heedful.errors import HeedfulError, printable
from heedful.machine.waiting import wait_briefly


class _Terminated(BaseException):
    """SIGTERM, raised so that what is half-written is cleared away."""


def main() -> None:
    """Run the command line; an error of the user's is one line and exit code 2."""
    _open_what_is_closed()
    wait_briefly()
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    received = _raised_when_received()
    try:
        _run(sys.argv[1:])
        sys.stdout.flush()
    except HeedfulError as error:
        print(f"heedful: {printable(str(error))}", file=sys.stderr)
        if error.exit_code > 128:
            _end_at_once(error.exit_code)
        sys.exit(error.exit_code)
    except BaseException as error:
        if _is_of_closed_pipe(error):  # whoever read our output has seen enough, as `head` does
            _write_no_more()
            sys.exit(141)
        if received:
            _end_at_once(128 + received[-1])
        _tell_of_lost_output(error)
        raise


def _raised_when_received() -> list[int]:
    """Turn SIGINT and SIGTERM into exceptions, and list which have come."""
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        received.append(number)
        if _is_importing(frame):
            _end_at_once(128 + number)
        raise KeyboardInterrupt if number == signal.SIGINT else _Terminated

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # as in the background of a script
            signal.signal(number, interrupt)
    return received


def _is_importing(frame: FrameType | None) -> bool:
    """Whether modules are being loaded, of which some abort when an exception comes upon them."""
    while frame:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _is_of_closed_pipe(error: BaseException) -> bool:
    """Whether nobody reads any more, also where rich or typer made an end of their own of it."""
    origin = error.__context__ if isinstance(error, SystemExit) else error
    return isinstance(origin, BrokenPipeError)


def _tell_of_lost_output(error: BaseException) -> None:
    """End with a line where nothing can be written any more."""
    if isinstance(error, OSError):
        try:
            print(flush=True)
        except OSError:
            _write_no_more()
            print(f"heedful: the output cannot be written, {error.strerror}", file=sys.stderr)
            sys.exit(2)


def _end_at_once(code: int) -> NoReturn:
    """Leave without waiting for threads that are still at work: a signal has asked for that."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody reads it
            stream.flush()
    os._exit(code)


def _open_what_is_closed() -> None:
    """Give a program that was started without standard streams some that lead nowhere."""
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _write_no_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> None:
    """Run a verb; a translation with no options but languages does not wait for what reads more."""
    verb, *rest = arguments or [""]
    words, languages = _without_languages(rest)
    if verb == "translate" and rest and not any(word.startswith("-") for word in words):
        from heedful.cli.translate import Task, translate
        from heedful.storage.shipped import model_and_texts
        from heedful.translation.options import Options

        model, texts = model_and_texts(words)
        translate(Task(model=model, texts=texts, options=Options(**languages)))
    else:
        from heedful.cli.app import run

        run()


def _without_languages(arguments: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Take --from and --to out of what was typed."""
    words, languages = list(arguments), dict[str, Any]()
    for option, name in ("--from", "from_language"), ("--to", "to_language"):
        if words.count(option) == 1 and (at := words.index(option)) + 1 < len(words):
            languages[name] = words[at + 1]
            del words[at : at + 2]
    return words, languages


if __name__ == "__main__":
    main()
