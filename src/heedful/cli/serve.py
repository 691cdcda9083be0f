"""What `heedful serve` and `heedful keys list` do."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from heedful.errors import missing_extra
from heedful.server.keys import KeyFile
from heedful.server.limits import Limits
from heedful.server.place import Place
from heedful.storage.shipped import model_path


def serve(
    folders: Sequence[Path],
    limits: Limits,
    place: Place,
    keys: Path | None,
    languages: tuple[str, str],
) -> None:
    """Serve models until a signal says to end."""
    folders = list(map(model_path, folders)) or [model_path()]
    for name in ("starlette", "uvicorn", "httptools", "python_multipart", "prometheus_client"):
        if find_spec(name) is None:
            raise missing_extra("serving", name.replace("_", "-"), extras="serve")
    from heedful.server.models import load_models
    from heedful.server.run import make_service
    from heedful.server.run import serve as run

    if keys:
        KeyFile(keys).read()  # refused before the work, not after
    from_language, to_language = languages
    models = load_models(folders, from_language=from_language, to_language=to_language)
    console = Console()
    for model in models.all.values():
        pairs = ", ".join(map(str, model.directions))
        console.print(f"{escape(model.name)}: {escape(pairs)}", soft_wrap=True)

    def listening(address: str) -> None:
        console.print(f"Listening on {address}, until Ctrl-C", soft_wrap=True)

    run(make_service(models, limits, keys), place, listening)


def show_keys(path: Path, console: Console) -> None:
    """Show whose keys there are."""
    table = Table("name", "requests a minute", "characters a day", "made", box=None)
    for key in KeyFile(path).read():
        limits = (key.requests_per_minute, key.characters_per_day)
        shown = ("any" if limit is None else f"{limit:,}" for limit in limits)
        table.add_row(escape(key.name), *shown, key.created[:10])
    console.print(table)
