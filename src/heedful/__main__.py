"""The way in, for `heedful` and `python -m heedful`."""

import os
import sys
from pathlib import Path

from heedful.errors import HeedfulError


def main() -> None:
    """Run the command line; an error of the user's is one line and exit code 2."""
    _open_what_is_closed()
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        _run(sys.argv[1:])
        sys.stdout.flush()
    except HeedfulError as error:
        print("heedful:", " ".join(str(error).splitlines()), file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has seen enough, as `head` does
        _write_no_more()
        sys.exit(141)
    except OSError as error:
        try:
            print(flush=True)
        except OSError:
            _write_no_more()
            print(f"heedful: the output cannot be written, {error.strerror}", file=sys.stderr)
            sys.exit(2)
        raise


def _open_what_is_closed() -> None:
    """Give a program that was started without standard streams some that lead nowhere."""
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _write_no_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: list[str]) -> None:
    """Run a verb; a translation without options does not wait for what reads options."""
    if arguments[:1] == ["translate"] and len(arguments) > 1 and not _has_options(arguments):
        from heedful.cli.translate import translate

        translate(Path(arguments[1]), arguments[2:])
    else:
        from heedful.cli.app import run

        run()


def _has_options(arguments: list[str]) -> bool:
    return any(argument.startswith("-") for argument in arguments)


if __name__ == "__main__":
    main()
