"""Clean the metadata of notebooks, of chapters and assignments alike.

Usage: python tools/author_clean_notebooks.py book/04-s-step.ipynb ...      (before a commit)
"""

import sys
from pathlib import Path

import nbformat

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def clean(notebook, kept):
    """Drop the metadata that changes from run to run: of a cell's, only what `kept` names stays."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in kept if key in cell.metadata}
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}
    return notebook


def write_chapter(notebook, path):
    nbformat.validate(clean(notebook, kept=("tags", "mystnb")))
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in map(Path, sys.argv[1:]):
        write_chapter(nbformat.read(name, as_version=4), name)
