"""Execute notebooks in place and keep only metadata that a reader of the diff needs.

Usage: python tools/execute.py [book/04-s-step.ipynb ...]; without names, every notebook in book/.
"""

import hashlib
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

BOOK = Path(__file__).parent.parent / "book"
KEPT_CELL_METADATA = ("tags", "mystnb")
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def clean(notebook):
    """Drop metadata that changes from run to run; give cells ids that follow their content."""
    notebook.metadata = NOTEBOOK_METADATA
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen = {}
    for cell in notebook.cells:
        kept = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if key in cell.metadata}
        cell.metadata = nbformat.from_dict(kept)
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}


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
    clean(notebook)
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
