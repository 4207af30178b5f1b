"""Clean the metadata of notebooks, of chapters and assignments alike.

Usage: python tools/author_clean_notebooks.py book/04-s-step.ipynb ...      (before a commit)
"""

import hashlib
import sys
from pathlib import Path

import nbformat

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
OF_CHAPTERS = ("tags", "mystnb")


def clean(notebook, kept):
    """Drop metadata that changes from run to run, but what `kept` names; give cells lasting ids.

    The id of a cell is nbgrader's name for it, or follows from its content.
    """
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen = {}
    for cell in notebook.cells:
        metadata = {key: cell.metadata[key] for key in kept if key in cell.metadata}
        cell.metadata = nbformat.from_dict(metadata)
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = {}
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        name = cell.metadata.get("nbgrader", {}).get("grade_id", digest)
        seen[name] = seen.get(name, 0) + 1
        cell.id = name if seen[name] == 1 else f"{name}-{seen[name]}"
    return notebook


def write_chapter(notebook, path):
    """Clean a chapter and write it, if that changes the file."""
    clean(notebook, OF_CHAPTERS)
    nbformat.validate(notebook)
    text = nbformat.writes(notebook) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_chapter(nbformat.read(name, as_version=4), Path(name))
