"""Run the notebooks and keep what they show: python -m tools.notebooks [name ...]."""

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).parents[1] / "notebooks"
_RICH = {"image/png": "_repr_png_", "text/markdown": "_repr_markdown_"}


def run(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Run the code of a notebook from a clean beginning; return what each of its cells shows."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_run_cell("".join(cell["source"]), names) for cell in code_cells(notebook)]


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells that hold code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell; what its last line comes to is shown, as a notebook does."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        outputs.append({"output_type": "display_data", "metadata": {}, "data": _shown(value)})
    return outputs


def _shown(value: Any) -> dict[str, Any]:
    for kind, method in _RICH.items():
        if hasattr(value, method):
            shown = getattr(value, method)()
            if isinstance(shown, bytes):
                return {kind: base64.b64encode(shown).decode()}
            return {kind: shown.splitlines(keepends=True)}
    return {"text/plain": repr(value).splitlines(keepends=True)}


def main() -> None:
    """Run those that are named, or all, and write what they show into them."""
    torch.set_num_threads(1)  # the networks are small
    named = sys.argv[1:] or [path.stem for path in sorted(FOLDER.glob("*.ipynb"))]
    for name in named:
        path = FOLDER / f"{name}.ipynb"
        notebook = json.loads(path.read_text())
        shown = run(notebook)
        for number, (cell, outputs) in enumerate(
            zip(code_cells(notebook), shown, strict=True), start=1
        ):
            cell["execution_count"], cell["outputs"] = number, outputs
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        print(path.name)


if __name__ == "__main__":
    main()
