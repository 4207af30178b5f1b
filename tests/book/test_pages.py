"""Errata are proved, exercises solved, outputs stored, figures described."""

import re
from pathlib import Path

import nbformat
import pytest

BOOK = Path(__file__).parents[2] / "book"
NOTEBOOKS = {path.name: nbformat.read(path, as_version=4) for path in sorted(BOOK.glob("*.ipynb"))}
CHAPTERS = [name for name in NOTEBOOKS if re.match(r"\d\d-", name)]


def errata():
    """Label of each box, and the sources of the code cells that follow it."""
    for notebook in NOTEBOOKS.values():
        for place, cell in enumerate(notebook.cells):
            for label in re.findall(r"^:name: (err-[\w-]+)$", cell.source, re.M):
                yield label, [c.source for c in notebook.cells[place:] if c.cell_type == "code"]


def test_every_erratum_is_proved_by_the_next_cell():
    assert [label for label, cells in errata() if "assert" not in cells[0]] == []


def test_the_list_of_errata_is_complete():
    lines = (BOOK / "errata.md").read_text("utf-8").splitlines()
    listed = re.findall(r"<(err-[\w-]+)>", "\n".join(line for line in lines if line[:2] != "- "))
    assert sorted(listed) == sorted(label for label, _ in errata())


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_exercise_has_a_folded_solution(name):
    text = "\n\n".join(c.source for c in NOTEBOOKS[name].cells if c.cell_type == "markdown")
    exercises = re.findall(r"```\{exercise\}.*\n:label: (\S+)", text)
    assert exercises == re.findall(r"\{solution-start\} (\S+)\n:class: dropdown", text)
    assert len(exercises) == text.count("{solution-end}") > 0


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_outputs_are_stored_and_described(name):
    for cell in NOTEBOOKS[name].cells:
        if cell.cell_type != "code":
            continue
        assert cell.execution_count is not None, cell.source
        exempt = {"nbval-skip", "nbval-ignore-output", "skip-execution", "raises-exception"}
        assert not exempt & set(cell.metadata.get("tags", []))
        for output in cell.outputs:
            assert output.output_type != "error"
            if "image/png" in output.get("data", {}):
                assert cell.metadata.get("mystnb", {}).get("image", {}).get("alt"), cell.source


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_metadata_is_minimal(name):
    notebook = NOTEBOOKS[name]
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags", "mystnb"}
    raw = re.sub(r'"image/png": ".*?"', "", (BOOK / name).read_text("utf-8"))  # pixels spell all
    assert not re.search(r"/(home|root|tmp|Users|work)/\w", raw)
    assert not re.search(r"0x[0-9a-f]{8,}", raw)
