"""A tiny course for the tests of the grading: two questions with tests, one paragraph."""

import csv
import json
import shutil
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).parent.parent
NAME = "a0-tiny"
DOUBLE = "def double(x):\n    return 2 * x"
HALF = "def half(x):\n    return x / 2"
WRONG = "def double(x):\n    return 4"
LIMITS = ["--cell-seconds", "6", "--notebook-seconds", "40"]


def cell(make, grade_id, source, *, points=None, solution=False, locked=False):
    kind = "code" if make is new_code_cell else "markdown"
    nbgrader = {"grade_id": grade_id, "cell_type": kind, "schema_version": 3, "task": False}
    nbgrader |= {"grade": points is not None, "solution": solution, "locked": locked}
    nbgrader |= {} if points is None else {"points": points}
    return make(source, metadata={"nbgrader": nbgrader})


def wrapped(source):
    head, body = source.split("\n", 1)
    return f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"


def check_of(name, value, other):
    return (
        f"assert np.allclose({name}(2), {value}), '{name}(2) is not {value}'\n"
        "### BEGIN HIDDEN TESTS\n"
        f"assert np.allclose({name}(10), {other}), '{name}(10) is wrong'\n"
        "numbers = np.random.default_rng(STUDENT).normal(size=5)\n"
        f"for got, x in zip({name}(numbers), numbers, strict=True):\n"
        f"    assert abs(got - x * {value} / 2) < 1e-12, 'numbers of your own are wrong'\n"
        "### END HIDDEN TESTS"
    )


def source():
    """Two questions graded by tests (3 and 2 points) and one by hand (5 points)."""
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [
        cell(new_markdown_cell, "intro", "# Tiny", locked=True),
        cell(new_code_cell, "setup", "import numpy as np\n\nSTUDENT = 0", locked=True),
        cell(new_markdown_cell, "q1", "## Question 1: Twice (3 points)", locked=True),
        cell(new_code_cell, "double", wrapped(DOUBLE), solution=True),
        cell(new_code_cell, "test-double", check_of("double", 4, 20), points=3, locked=True),
        cell(new_markdown_cell, "q2", "## Question 2: Half (2 points)", locked=True),
        cell(new_code_cell, "half", wrapped(HALF), solution=True),
        cell(new_code_cell, "test-half", check_of("half", 1, 5), points=2, locked=True),
        cell(new_markdown_cell, "q3", "## Question 3: Why (5 points, by hand)", locked=True),
        cell(new_markdown_cell, "why", "Because.", points=5, solution=True),
    ]
    return new_notebook(cells=cells, metadata=metadata)


def make_course(folder, notebook):
    path = folder / "course" / "source" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    shutil.copy(ROOT / "course" / "assignments" / "nbgrader_config.json", folder / "course")
    (folder / "submissions").mkdir()


def student_version(folder):
    tool = ROOT / "course" / "make_assignments.py"
    command = [sys.executable, tool, "--folder", folder / "course"]
    subprocess.run(command, check=True, capture_output=True)
    return nbformat.read(folder / "course" / "release" / NAME / f"{NAME}.ipynb", as_version=4)


def part(notebook, name):
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def solved(release, double=DOUBLE, half=HALF, why="My reason."):
    notebook = deepcopy(release)
    for name, text in (("double", double), ("half", half), ("why", why)):
        part(notebook, name).source = text
    return notebook


def hand_in(folder, student, notebook, name=f"{NAME}.ipynb"):
    path = folder / "submissions" / student / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def command_for(folder, *options):
    command = [sys.executable, ROOT / "course" / "grade.py", folder / "submissions"]
    command += ["--out", folder / "out", "--assignments", folder / "course"]
    return [*command, *LIMITS, *options]


def grade(folder, *options, **kwargs):
    command = command_for(folder, *options)
    return subprocess.run(command, capture_output=True, text=True, timeout=3000, **kwargs)


def rows(folder, name="points.csv"):
    with (folder / "out" / name).open(newline="", encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def points(row):
    return tuple(float(row[f"{NAME}: test-{name}"]) for name in ("double", "half"))


def page(folder, student):
    return (folder / "out" / "feedback" / student / NAME / f"{NAME}.html").read_text("utf-8")
