"""Grading a folder in which every kind of bad submission lies beside good ones."""

import csv
import json
import os
import shutil
import subprocess
import sys
import time
from copy import deepcopy
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).parent.parent
GRADE = ROOT / "tools" / "grade.py"
NAME = "a0-tiny"


def cell(make, grade_id, source, *, points=None, solution=False, locked=False):
    kind = "code" if make is new_code_cell else "markdown"
    nbgrader = {"grade_id": grade_id, "cell_type": kind, "schema_version": 3, "task": False}
    nbgrader |= {"grade": points is not None, "solution": solution, "locked": locked}
    nbgrader |= {} if points is None else {"points": points}
    return make(source, metadata={"nbgrader": nbgrader})


DOUBLE = "def double(x):\n    return 2 * x"
HALF = "def half(x):\n    return x / 2"


def wrapped(source):
    head, body = source.split("\n", 1)
    return f"{head}\n    ### BEGIN SOLUTION\n{body}\n    ### END SOLUTION"


def check_of(name, value, other):
    return (
        f"assert np.allclose({name}(2), {value}), '{name}(2) is not {value}'\n"
        f"### BEGIN HIDDEN TESTS\nassert np.allclose({name}(10), {other})\n### END HIDDEN TESTS"
    )


def source():
    """Two questions graded by tests (3 and 2 points) and one by hand (5 points)."""
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [
        cell(new_markdown_cell, "intro", "# Tiny", locked=True),
        cell(new_code_cell, "setup", "import numpy as np", locked=True),
        cell(new_code_cell, "double", wrapped(DOUBLE), solution=True),
        cell(new_code_cell, "test-double", check_of("double", 4, 20), points=3, locked=True),
        cell(new_code_cell, "half", wrapped(HALF), solution=True),
        cell(new_code_cell, "test-half", check_of("half", 1, 5), points=2, locked=True),
        cell(new_markdown_cell, "why", "Because.", points=5, solution=True),
    ]
    return new_notebook(cells=cells, metadata=metadata)


def grade(folder, *options, **kwargs):
    limits = ["--cell-seconds", "4", "--notebook-seconds", "20", "--memory-gb", "1.5"]
    command = [sys.executable, GRADE, folder / "submissions", "--out", folder / "out"]
    command += ["--assignments", folder / "course", "--output-mb", "0.2", *limits, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=400, **kwargs)


def rows(folder):
    with (folder / "out" / "points.csv").open(newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def make_course(folder, notebook):
    path = folder / "course" / "source" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    shutil.copy(ROOT / "assignments" / "nbgrader_config.py", folder / "course")


def student_version(folder):
    command = [
        sys.executable,
        str(ROOT / "tools" / "assignments.py"),
        "--folder",
        folder / "course",
    ]
    subprocess.run(command, check=True, capture_output=True)
    return nbformat.read(folder / "course" / "release" / NAME / f"{NAME}.ipynb", as_version=4)


def part(notebook, name):
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def solved(release, double=DOUBLE, half=HALF):
    notebook = deepcopy(release)
    part(notebook, "double").source = double
    part(notebook, "half").source = half
    part(notebook, "why").source = "My reason."
    return notebook


def edited(release, change, **answers):
    notebook = solved(release, **answers)
    change(notebook)
    return notebook


def delete_tests(notebook):
    for name in ("test-double", "half", "test-half"):
        notebook.cells.remove(part(notebook, name))


def rewrite_tests(notebook):
    part(notebook, "test-double").source = "pass"
    part(notebook, "test-double").metadata.nbgrader.points = 100
    part(notebook, "test-half").metadata.nbgrader.update(grade=False, locked=False)


def switch_off_tests(notebook):
    for name in ("test-double", "test-half"):
        part(notebook, name).metadata.tags = ["skip-execution"]
        part(notebook, name).cell_type = "raw"


def reorder(notebook):
    notebook.cells.reverse()


def repeat(notebook):
    notebook.cells.insert(2, deepcopy(part(notebook, "test-half")))
    notebook.cells.append(deepcopy(part(notebook, "double")))


def add_own_cells(notebook):
    notebook.cells.insert(2, new_code_cell("def helper(x):\n    return 2 * x"))


WRONG = "def double(x):\n    return 4"
SPIN = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
PATCH = "import numpy\nnumpy.allclose = lambda *a, **k: True\n" + WRONG
TRANSFORM = "get_ipython().input_transformers_post.append(lambda lines: ['pass'])\n" + WRONG
PRINTS = "def half(x):\n    import warnings\n    warnings.warn('hm')\n    return x / 2"

# name: (submission from the student version, what the status says, points of the two questions)
CASES = {
    "good": (lambda r: solved(r), "graded", 3, 2),
    "untouched": (lambda r: r, "graded", 0, 0),
    "wrong": (lambda r: solved(r, double=WRONG), "graded", 0, 2),
    "own-cells": (
        lambda r: edited(r, add_own_cells, double="def double(x):\n    return helper(x)"),
        "graded",
        3,
        2,
    ),
    "loops": (lambda r: solved(r, double="while True:\n    pass"), "ran longer than 4 s", 0, 2),
    "spins": (lambda r: solved(r, half=SPIN), "ran longer than 4 s", 3, 0),
    "memory": (
        lambda r: solved(r, double="hoard = [bytearray(10**8) for _ in range(10**4)]\n" + DOUBLE),
        "ran out of memory (1.5 GB)",
        0,
        2,
    ),
    "exits": (lambda r: solved(r, half="exit()"), "called exit: half", 3, 0),
    "exits-in-test": (
        lambda r: solved(r, half="import sys\ndef half(x):\n    sys.exit()"),
        "called exit: test-half",
        3,
        0,
    ),
    "os-exits": (lambda r: solved(r, half="import os\nos._exit(0)"), "ended the kernel", 3, 0),
    "floods": (
        lambda r: solved(r, double="while True:\n    print('x' * 10000)"),
        "stopped for too much output",
        0,
        2,
    ),
    "deletes": (
        lambda r: edited(r, delete_tests, double=WRONG),
        "deleted cells put back: test-double, half, test-half",
        0,
        0,
    ),
    "rewrites": (
        lambda r: edited(r, rewrite_tests, double=WRONG),
        "changed locked cells restored: test-double",
        0,
        2,
    ),
    "switches-off": (lambda r: edited(r, switch_off_tests, double=WRONG), "", 0, 2),
    "reorders": (lambda r: edited(r, reorder), "cells reordered; put back in order", 3, 2),
    "repeats": (lambda r: edited(r, repeat), "twice, the last counts: double, test-half", 3, 2),
    "patches": (lambda r: solved(r, double=PATCH), "the tests were disarmed", 0, 0),
    "transforms": (lambda r: solved(r, double=TRANSFORM), "the tests were disarmed", 0, 0),
    "rebinds": (
        lambda r: solved(r, double="class np:\n    allclose = min\n" + WRONG),
        "look at how it uses np",
        None,
        None,
    ),
    "package": (
        lambda r: solved(r, half="import tomorrows_package\n" + HALF),
        "package not installed here: tomorrows_package",
        3,
        0,
    ),
    "warns": (lambda r: solved(r, half=PRINTS), "printed a warning", 3, 0),
    "kills": (
        lambda r: solved(r, half="import os\nos.kill(os.getppid(), 9)"),
        "the run broke off",
        0,
        0,
    ),
    "leaves": (
        lambda r: solved(
            r,
            double="import subprocess\n"
            "subprocess.Popen(['sleep', '98765'], start_new_session=True)\n" + DOUBLE,
        ),
        "graded",
        3,
        2,
    ),
}
FILES = {  # not notebooks at all
    "text": ("I could not do it, sorry.", "not a notebook"),
    "broken": ('{"cells": [', "not a notebook"),
    "empty": ("", "not a notebook: the file is empty"),
    "list": ("[1, 2]", "not a notebook"),
    "no-cells": ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "not a notebook"),
    "blank": (
        '{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
        "none of the assignment's cells are in it",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Everything above handed in at once, graded once."""
    folder = tmp_path_factory.mktemp("grading")
    make_course(folder, source())
    release = student_version(folder)
    submissions = folder / "submissions"
    hidden = str(folder / "course" / "source" / NAME / f"{NAME}.ipynb")
    reads = f"text = open({hidden!r}).read()\n" + DOUBLE
    calls = f"import os\nos.system('cat {hidden}')\n" + HALF
    cases = {name: case[0](deepcopy(release)) for name, case in CASES.items()}
    cases["reads"] = solved(release, double=reads, half=calls)
    cases["net"] = solved(
        release, half="import urllib.request\nurllib.request.urlopen('http://example.org')\n" + HALF
    )
    for number, (name, notebook) in enumerate(cases.items()):
        flat = number % 2
        path = submissions / (f"{name}_{NAME}.ipynb" if flat else f"{name}/{NAME}.ipynb")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook))
    for name, (text, _) in FILES.items():
        (submissions / f"{name}_{NAME}.ipynb").write_text(text)
    (submissions / "link").mkdir()
    (submissions / "link" / f"{NAME}.ipynb").symlink_to(hidden)
    (submissions / "notes.txt").write_text("not an assignment")
    start = time.monotonic()
    done = grade(folder, env=os.environ | {"SECRET_OF_THE_TEACHER": "1"})
    assert done.returncode == 0, done.stderr
    return folder, done, time.monotonic() - start


@pytest.mark.parametrize("name", CASES)
def test_a_submission_gets_its_points_and_a_true_status(graded, name):
    row = rows(graded[0])[name]
    _, status, double, half = CASES[name]
    assert status in row["status"]
    if status == "graded":
        assert row["status"] == "graded"
    if double is not None:
        assert float(row[f"{NAME}: test-double"]) == double
        assert float(row[f"{NAME}: test-half"]) == half


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_notebook_scores_nothing_and_says_so(graded, name):
    row = rows(graded[0])[name]
    assert FILES[name][1] in row["status"]
    assert row["total"] == "0"
    assert row["out of"] == "10"


def test_a_link_is_not_followed(graded):
    row = rows(graded[0])["link"]
    assert "a link" in row["status"]
    assert row["total"] == "0"


def test_reading_the_hidden_tests_is_refused_and_reported(graded):
    row = rows(graded[0])["reads"]
    assert "refused: opening the course's own files" in row["status"]
    assert "refused: running a command on the course's own files" in row["status"]
    assert row[f"{NAME}: test-double"] == row[f"{NAME}: test-half"] == "0"


def test_the_network_is_refused_and_reported(graded):
    row = rows(graded[0])["net"]
    assert "refused: using the network" in row["status"]
    assert row[f"{NAME}: test-half"] == "0"


def test_hand_graded_points_stay_open(graded):
    assert rows(graded[0])["good"][f"{NAME}: why"] == "by hand"
    assert rows(graded[0])["good"]["total"] == "5 + up to 5 by hand"
    assert rows(graded[0])["untouched"]["total"] == "0"  # nothing written, nothing to read


def test_everyone_has_a_feedback_page_that_says_what_the_status_says(graded):
    folder, done, _ = graded
    for student, row in rows(folder).items():
        page = (folder / "out" / "feedback" / student / NAME / f"{NAME}.html").read_text()
        if row["status"] != "graded":
            assert "Note from the grading" in page
            assert f"{student}, {NAME}: {row['status']}" in done.stdout


def test_the_summary_ranks_the_questions_and_names_stray_files(graded):
    folder, done, _ = graded
    text = (folder / "out" / "summary.txt").read_text()
    assert text in done.stdout
    section = text.partition("Most often missed:\n")[2].partition("\n\n")[0]
    missed = [line.split() for line in section.splitlines()]
    counts = [int(words[0]) for words in missed]
    assert counts
    assert counts == sorted(counts, reverse=True)
    wrong = sum(row[f"{NAME}: test-half"] == "0" for row in rows(folder).values())
    assert [str(wrong), "of", str(len(rows(folder))), f"{NAME}:", "test-half"] in missed
    assert "double(2) is not 4" not in text  # nobody failed the visible test
    assert "notes.txt" in text


def test_the_run_ends_in_bounded_time_and_leaves_no_process(graded):
    assert graded[2] < 300
    lines = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    assert ["sleep", "98765"] not in lines


def test_points_given_by_hand_are_reported_without_running_anything(graded):
    folder, _, _ = graded
    code = (
        "import sys; from nbgrader.api import Gradebook\n"
        "with Gradebook(sys.argv[1], 'slnp') as book:\n"
        f"    grade = book.find_grade('why', '{NAME}', '{NAME}', 'good')\n"
        "    grade.manual_score, grade.needs_manual_grade = 4, False\n"
        "    book.db.commit()\n"
    )
    url = f"sqlite:///{folder / 'out' / 'gradebook.db'}"
    subprocess.run([sys.executable, "-c", code, url], check=True)
    assert grade(folder, "--report").returncode == 0
    assert rows(folder)["good"]["total"] == "9"
    assert rows(folder)["wrong"]["total"] == "2 + up to 5 by hand"


def test_a_package_that_the_grading_machine_lacks_is_not_the_students_fault(tmp_path):
    notebook = source()
    part(notebook, "setup").source = "import not_installed_here\nimport numpy as np"
    make_course(tmp_path, notebook)
    (tmp_path / "submissions").mkdir()
    nbformat.write(notebook, tmp_path / "submissions" / f"ann_{NAME}.ipynb")
    done = grade(tmp_path)
    assert done.returncode == 2
    assert "Nobody was graded" in done.stderr
    assert "package not installed here: not_installed_here" in done.stderr
    assert not (tmp_path / "out" / "points.csv").exists()


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_submissions_is_refused_in_a_sentence(tmp_path, exists):
    make_course(tmp_path, source())
    if exists:
        (tmp_path / "submissions").mkdir()
    done = grade(tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    said = "has an assignment's name in its own: a0-tiny" if exists else "There is no folder"
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
