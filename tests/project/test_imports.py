"""Who may import what: the method nothing of ours, the chapters about it the method alone.

A linter of imports reads modules and no notebooks; these few lines read both.
"""

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
ON_THE_METHOD = [p for p in CHAPTERS if p.stem < "08"]
ON_THE_METHOD += [p for p in ASSIGNMENTS if p.stem < "a6"]
OURS = {"slnp_edu", "slnp_study", "course", "grading"}
name = {"ids": lambda path: path.stem}


def imports(path):
    """Every dotted name that a module or a notebook imports."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{a.name}" for a in node.names)


def packages(path):
    return {dotted.split(".")[0] for dotted in imports(path)}


@pytest.mark.parametrize("path", [*METHOD, *ON_THE_METHOD], **name)
def test_the_method_and_what_teaches_it_import_nothing_else_of_ours(path):
    assert packages(path) & OURS <= {"slnp_edu"}


@pytest.mark.parametrize("path", METHOD, **name)
def test_only_show_draws_and_nothing_of_the_method_imports_it(path):
    assert path.stem == "show" or not packages(path) & {"matplotlib", "IPython", "pandas"}
    assert not [dotted for dotted in imports(path) if dotted.startswith("slnp_edu.show")]


@pytest.mark.parametrize("path", [*CHAPTERS, *ASSIGNMENTS], **name)
def test_no_chapter_imports_a_private_name(path):
    ours = [dotted for dotted in imports(path) if dotted.split(".")[0] in OURS]
    assert not [dotted for dotted in ours if "._" in dotted]


def test_importing_the_method_loads_neither_pandas_nor_matplotlib_nor_the_study():
    # scikit-learn loads pandas by itself where it is installed: here it is not.
    heavy = ["pandas", "matplotlib", "IPython", "slnp_study"]
    without = f"import sys; sys.modules.update(dict.fromkeys({heavy}))"
    command = [sys.executable, "-c", f"{without}; import slnp_edu, slnp_edu.toy"]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""
