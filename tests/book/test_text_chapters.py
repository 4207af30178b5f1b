"""The book's own promises: every equation once, every erratum proved, every figure described."""

import re
from pathlib import Path

import nbformat
import pytest

BOOK = Path(__file__).parents[2] / "book"
NOTEBOOKS = {path.name: nbformat.read(path, as_version=4) for path in sorted(BOOK.glob("*.ipynb"))}
CHAPTERS = {name: notebook for name, notebook in NOTEBOOKS.items() if re.match(r"\d\d-", name)}
LINES = {name: notebook for name, notebook in NOTEBOOKS.items() if name.startswith("line-")}
#: Chapters that teach only: their formulas, boxes and proofs stand in the companion.
RETOLD = [name for name in CHAPTERS if name < "08"]
LAST_EQUATION = 58


def text(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def equations():
    """Number -> notebooks that show it."""
    found = {}
    for name, notebook in (CHAPTERS | LINES).items():
        for number in re.findall(r"\\tag\{(\d+)\}", text(notebook)):
            found.setdefault(int(number), []).append(name)
    return found


def test_every_equation_of_the_paper_stands_once():
    found = equations()
    missing = [n for n in range(1, LAST_EQUATION + 1) if n not in found]
    doubled = {n: names for n, names in found.items() if len(names) > 1}
    assert not missing
    assert not doubled


def test_every_equation_has_its_label_and_a_cell_that_runs_it():
    lacking = []
    for number, (name, *_) in equations().items():
        labelled = f"(eq-{number})=" in text(NOTEBOOKS[name])
        sources = "\n".join(cell.source for cell in cells_beside(name, number))
        named = any(f"({number})" in comment for comment in re.findall(r"#(.*)", sources))
        if not (labelled and named):
            lacking.append((number, name, labelled, named))
    assert not lacking


def cells_beside(name, number):
    """The code cells that may run an equation: in the companion, the next two."""
    if name in CHAPTERS:
        return code(CHAPTERS[name])
    cells = LINES[name].cells
    shown = next(i for i, cell in enumerate(cells) if rf"\tag{{{number}}}" in cell.source)
    return [cell for cell in cells[shown:] if cell.cell_type == "code"][:2]


def test_the_companion_follows_the_order_of_the_paper():
    words = "\n".join(text(notebook) for notebook in LINES.values())
    numbers = [int(number) for number in re.findall(r"\\tag\{(\d+)\}", words)]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("name", RETOLD)
def test_a_retold_chapter_teaches_and_leaves_the_audit_to_the_companion(name):
    words = text(CHAPTERS[name])
    assert r"\tag{" not in words
    assert "(eq-" not in words
    assert ":name: err-" not in words
    assert words.count("{admonition} Hint\n:class: dropdown") == words.count("```{exercise}")
    assert re.search(r"<(eq|err|line)-[\w-]+>", words), "link to the companion"


@pytest.mark.parametrize("label", ["fig-1", "fig-2", "alg-1"])
def test_figures_and_algorithm_of_the_derivation_are_there(label):
    everything = "\n".join(text(notebook) for notebook in (CHAPTERS | LINES).values())
    assert everything.count(f"({label})=") == 1


def errata():
    """Label -> (notebook, number of the cell that holds the box)."""
    found = {}
    for name, notebook in NOTEBOOKS.items():
        for i, cell in enumerate(notebook.cells):
            if cell.cell_type == "markdown":
                for label in re.findall(r"^:name: (err-[\w-]+)$", cell.source, re.M):
                    assert label not in found, f"{label} stands twice"
                    found[label] = name, i
    return found


def test_every_erratum_is_proved_by_the_next_cell():
    unproved = []
    for label, (name, i) in errata().items():
        following = [cell for cell in NOTEBOOKS[name].cells[i + 1 :] if cell.cell_type == "code"]
        if not following or "assert" not in following[0].source:
            unproved.append((label, name))
    assert not unproved


def test_the_list_of_errata_is_complete():
    table = [line for line in (BOOK / "errata.md").read_text().splitlines() if line[:1] == "|"]
    listed = re.findall(r"<(err-[\w-]+)>", "\n".join(table))
    assert sorted(listed) == sorted(errata())
    assert len(errata()) >= 25


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_is_whole(name):
    notebook = CHAPTERS[name]
    words = text(notebook)
    exercises = re.findall(r"```\{exercise\}.*\n:label: (\S+)", words)
    solutions = re.findall(r"\{solution-start\} (\S+)\n:class: dropdown", words)
    assert len(exercises) >= 3
    assert exercises == solutions
    assert words.count("{solution-end}") == len(exercises)
    assert "\n## Summary\n" in words
    sources = "\n".join(cell.source for cell in code(notebook))
    assert sources.count("assert ") >= 3
    assert "show_source(" in sources


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_is_named_on_the_landing_page_and_in_the_table_for_teachers(name):
    label = re.search(r"\((ch-[\w-]+)\)=", text(CHAPTERS[name]))[1]
    landing, teaching = ((BOOK / f"{page}.md").read_text("utf-8") for page in ("index", "teaching"))
    assert f"<{label}>`" in landing.partition("## What you will find")[2].partition("\n## ")[0]
    table = teaching.partition("## What each chapter needs")[2].partition("\n## ")[0]
    assert f"\n| {{ref}}`{label}` |" in table


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_outputs_are_stored_and_described(name):
    for cell in code(NOTEBOOKS[name]):
        assert cell.execution_count is not None, cell.source
        tags = cell.metadata.get("tags", [])
        exempt = {"nbval-skip", "nbval-ignore-output", "skip-execution", "raises-exception"}
        assert not exempt & set(tags)
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
    raw = re.sub(r'"image/png": ".*?"', "", (BOOK / name).read_text())  # pixels spell anything
    assert not re.search(r"/(home|root|tmp|Users|work)/\w", raw)
    assert not re.search(r"0x[0-9a-f]{8,}", raw)
