"""Execute notebooks in place and keep only metadata that a reader of the diff needs.

Usage: python tools/author_execute.py [book/04-s-step.ipynb ...]    (no name: all of book/)
"""

import sys
from pathlib import Path

import nbformat
from author_clean_notebooks import write_chapter
from nbclient import NotebookClient
from tqdm import tqdm

BOOK = Path(__file__).parent.parent / "book"


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
    write_chapter(notebook, path)


def main(names):
    paths = [Path(name) for name in names] or sorted(BOOK.glob("*.ipynb"))
    progress = tqdm(paths)
    for path in progress:
        progress.set_description(path.name)
        execute(path)


if __name__ == "__main__":
    main(sys.argv[1:])
