"""Execute notebooks in place and keep only metadata that a reader of the diff needs.

Usage: python tools/execute.py [book/04-s-step.ipynb ...]; without names, every notebook in book/.
"""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from notebooks import clean
from tqdm import tqdm

BOOK = Path(__file__).parent.parent / "book"
KEPT_CELL_METADATA = ("tags", "mystnb")


def execute(path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    clean(notebook, KEPT_CELL_METADATA)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n")


def main(names):
    paths = [Path(name) for name in names] or sorted(BOOK.glob("*.ipynb"))
    progress = tqdm(paths)
    for path in progress:
        progress.set_description(path.name)
        execute(path)


if __name__ == "__main__":
    main(sys.argv[1:])
