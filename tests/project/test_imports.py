"""Who may import what: the method nothing of ours, the chapters about it the method alone."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
METHOD = sorted((ROOT / "slnp_edu").glob("*.py"))
CHAPTERS = sorted((ROOT / "book").glob("*.ipynb"))
ASSIGNMENTS = sorted((ROOT / "course" / "assignments" / "source").rglob("*.ipynb"))
ON_THE_METHOD = [p for p in CHAPTERS if p.name[:2] in {f"{n:02}" for n in range(1, 8)}]
ON_THE_METHOD += [p for p in ASSIGNMENTS if p.name[:2] in {f"a{n}" for n in range(1, 6)}]
OURS = {"slnp_edu", "slnp_study", "course", "grading"}


def code(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")


def imports(path):
    """Every (module, name) that a file imports; the name is "" in ``import module``."""
    for node in ast.walk(ast.parse(code(path))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


def packages(path):
    return {module.split(".")[0] for module, _ in imports(path)}


def test_the_method_imports_nothing_else_of_ours():
    assert {p.name: packages(p) & OURS - {"slnp_edu"} for p in METHOD} == {
        p.name: set() for p in METHOD
    }


def test_only_show_draws_and_nothing_of_the_method_imports_it():
    for path in METHOD:
        used = packages(path) & {"matplotlib", "IPython", "pandas"}
        assert path.name == "show.py" or used == set()
        assert "slnp_edu.show" not in {module for module, _ in imports(path)}


@pytest.mark.parametrize("path", ON_THE_METHOD, ids=lambda p: p.stem)
def test_chapters_and_assignments_on_the_method_import_it_alone(path):
    assert packages(path) & OURS <= {"slnp_edu"}


@pytest.mark.parametrize("path", [*CHAPTERS, *ASSIGNMENTS], ids=lambda p: p.stem)
def test_no_chapter_imports_a_private_name(path):
    ours = [(module, name) for module, name in imports(path) if module.split(".")[0] in OURS]
    assert [
        pair for pair in ours if any(p.startswith("_") for p in ".".join(pair).split("."))
    ] == []


def test_importing_the_method_loads_neither_pandas_nor_matplotlib_nor_the_study():
    # scikit-learn loads pandas by itself where it is installed: here it is not.
    heavy = ["pandas", "matplotlib", "IPython", "slnp_study"]
    without = f"import sys; sys.modules.update(dict.fromkeys({heavy}))"
    command = [sys.executable, "-c", f"{without}; import slnp_edu, slnp_edu.toy"]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""
