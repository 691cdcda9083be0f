"""Put a trained model into the package: `python -m tools.ship_model build/everyday/model everyday`.

It is packed small, without any sentence of its corpus, and with a note on whose text it learned
from.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from heedful.runs.pack import opened, pack
from heedful.storage.checksums import write_checksums
from heedful.storage.folder import ModelFolder
from heedful.storage.shipped import MODELS

LICENSES = """# Whose text this model learned from

{credits}

The model was trained by heedful (Apache-2.0). Its weights are made of the texts above; whoever
passes them on names these sources too.
"""


def ship(model: Path, name: str) -> Path:
    """Write a model into the package under a name, in place of one of that name."""
    place = MODELS / name
    with tempfile.TemporaryDirectory() as folder:
        packed = pack(
            ModelFolder(model),
            Path(folder) / f"{name}.zip",
            with_weights=True,
            small=True,
        )
        with opened(packed.path) as unpacked:
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(unpacked.path, place)
    credits = ModelFolder(place).provenance().data.credits
    text = LICENSES.format(credits="\n".join(f"- {credit}" for credit in credits))
    (place / "LICENSES.md").write_text(text, encoding="utf-8", newline="\n")
    write_checksums(ModelFolder(place), of_all=True)
    return place


if __name__ == "__main__":
    print(ship(Path(sys.argv[1]), sys.argv[2]))
