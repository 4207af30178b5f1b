"""Grading: right work keeps its points, accidents cost what they should, files are understood."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
import tiny
from grading import clean, collect, pages, roster, rules
from grading.course import judged
from grading.run import Sandbox
from grading.sandbox import Limits, choose
from nbformat.v4 import new_code_cell, new_markdown_cell
from tiny import DOUBLE, HALF, NAME, WRONG, grade, hand_in, make_course, part, rows, solved

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def edited(release, change, **answers):
    notebook = solved(release, **answers)
    change(notebook)
    return notebook


def after(name, *cells):
    """A change that puts new cells behind one of the notebook's."""

    def change(notebook):
        position = notebook.cells.index(part(notebook, name)) + 1
        notebook.cells[position:position] = [deepcopy(cell) for cell in cells]

    return change


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


def repeat(notebook):
    notebook.cells.insert(2, deepcopy(part(notebook, "test-half")))
    notebook.cells.append(deepcopy(part(notebook, "double")))


def paste_picture(notebook):
    part(notebook, "why").source = "So:\n\n![image.png](attachment:image.png)"
    part(notebook, "why").attachments = {"image.png": {"image/png": PNG}}


WARNS = "def half(x):\n    import warnings\n    warnings.warn('hm')\n    return np.array(x) / 2"
DIVIDES = "def half(x):\n    _ = np.array([0.0]) / 0\n    return x / 2"
BAR = "from tqdm import tqdm\n\ndef double(x):\n    return sum(x for _ in tqdm(range(2)))"
PARTIAL = "from functools import partial\n\ndouble = partial(np.multiply, 2)"
OBJECT = "class Doubler:\n    def __call__(self, x):\n        return 2 * x\n\ndouble = Doubler()"
LISTS = "def half(x):\n    return [v / 2 for v in np.atleast_1d(x)]"
STUB = "Write your answer here."
RIGHT = {  # all of these get full points, 3 and 2
    "good": lambda r: solved(r),
    "own-cell": lambda r: edited(
        r,
        after("q1", new_code_cell("def helper(x):\n    return 2 * x")),
        double="def double(x):\n    return helper(x)",
    ),
    "scratch": lambda r: edited(r, after("setup", new_code_cell("sum = 0\nabs = 1\nzip = None"))),
    "star": lambda r: edited(r, after("setup", new_code_cell("from numpy import *"))),
    "magic": lambda r: solved(r, double="%matplotlib inline\n!echo\n" + DOUBLE),
    "warns": lambda r: solved(r, half=WARNS),
    "divides": lambda r: solved(r, half=DIVIDES),
    "bar": lambda r: solved(r, double=BAR),
    "partial": lambda r: solved(r, double=PARTIAL),
    "object": lambda r: solved(r, double=OBJECT),
    "lists": lambda r: solved(r, half=LISTS),
    "plots": lambda r: solved(
        r, double="import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n" + DOUBLE
    ),
    "leaves": lambda r: solved(
        r, double=f"import threading\nthreading.Timer(999, print).start()\n{DOUBLE}"
    ),
    "picture": lambda r: edited(r, paste_picture),
    "below": lambda r: edited(
        r, after("why", new_markdown_cell("My **derivation** in a new cell.")), why=STUB
    ),
    "switches-off": lambda r: edited(r, switch_off_tests),
    "reorders": lambda r: edited(r, lambda notebook: notebook.cells.reverse()),
    "repeats": lambda r: edited(r, repeat),
}
SPIN = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
# name: (submission from the student version, what the status says, points of the two questions)
ODD = {
    "untouched": (lambda r: r, "graded", 0, 0),
    "wrong": (lambda r: solved(r, double=WRONG), "graded", 0, 2),
    "loops": (lambda r: solved(r, double="while True:\n    pass"), "longer than 4 s", 0, 2),
    "spins": (lambda r: solved(r, half=SPIN), "could not be interrupted: half", 3, 0),
    "sleeps": (
        lambda r: solved(r, half="def half(x):\n    import time\n    time.sleep(999)"),
        "waited for more than 5 s: test-half",
        3,
        0,
    ),
    "memory": (
        lambda r: solved(r, double="hoard = [bytearray(10**8) for _ in range(10**4)]\n" + DOUBLE),
        "ran out of memory (1.5 GB): double",
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
    "asks": (lambda r: solved(r, double="x = input()\n" + DOUBLE), "graded", 0, 2),
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
    "package": (
        lambda r: solved(r, half="import tomorrows_package\n" + HALF),
        "package not installed here: tomorrows_package",
        3,
        0,
    ),
}
SAID = {  # what the status of right work says
    "repeats": "twice, the last counts: double, test-half",
    "reorders": "cells reordered; put back in order",
    "below": "text found elsewhere than in its cell: why",
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
    if choose() is None:
        pytest.skip("no sandbox here: apt-get install bubblewrap")
    folder = tmp_path_factory.mktemp("grading ü")
    make_course(folder, tiny.source())
    release = tiny.student_version(folder)
    submissions = folder / "submissions"
    for name, make in RIGHT.items():
        hand_in(folder, name, make(deepcopy(release)))
    for name, case in ODD.items():
        notebook = case[0](deepcopy(release))
        (submissions / f"{name}_{NAME}.ipynb").write_text(json.dumps(notebook), "utf-8")
    for name, (text, _) in FILES.items():
        (submissions / f"{name}_{NAME}.ipynb").write_text(text, "utf-8")
    (submissions / "link").mkdir()
    hidden = folder / "course" / "source" / NAME / f"{NAME}.ipynb"
    (submissions / "link" / f"{NAME}.ipynb").symlink_to(hidden)
    (submissions / "notes.txt").write_text("not an assignment")
    mark = hand_in(folder, "mark", solved(release))
    mark.write_bytes(b"\xef\xbb\xbf" + mark.read_bytes())  # a byte-order mark
    hand_in(folder, "ann b", solved(release))
    hand_in(folder, "ann-b", solved(release, double=WRONG))
    hand_in(folder, "cased", solved(release), name="A0_Tiny.IPYNB")
    hand_in(folder, unicodedata.normalize("NFD", "Zoë"), solved(release))
    hand_in(folder, "copies", solved(release, double=WRONG))
    newer = hand_in(folder, "copies", solved(release), name=f"{NAME} (1).ipynb")
    older = hand_in(folder, "copies", solved(release, half="x"), name=f"{NAME}-2.ipynb")
    os.utime(newer, (2_000_000_000, 2_000_000_000))
    os.utime(older, (1_000_000_000, 1_000_000_000))
    hand_in(folder, "scan", solved(release, why=STUB))
    (submissions / "scan" / f"{NAME}.pdf").write_bytes(b"%PDF")
    done = grade(folder, "--no-rehearsal", env=os.environ | {"LC_ALL": "C", "HOME": "/nowhere"})
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.mark.parametrize("name", [*RIGHT, "mark", "ann-b", "cased", "Zoë", "copies", "scan"])
def test_right_work_keeps_its_points(graded, name):
    found = rows(graded[0])
    if name == "ann-b":  # two people whose names look alike as folders
        others = [row for who, row in found.items() if who.startswith("ann-b")]
        assert sorted(tiny.points(row) for row in others) == [(0, 2), (3, 2)]
        return
    assert tiny.points(found[name]) == (3, 2), found[name]["status"]
    if name in SAID:
        assert SAID[name] in found[name]["status"]


def test_of_several_copies_the_newest_counts_and_all_are_named(graded):
    status = rows(graded[0])["copies"]["status"]
    assert f"3 files handed in: {NAME}-2.ipynb, {NAME}.ipynb, {NAME} (1).ipynb" in status


@pytest.mark.parametrize("name", ["below", "scan", "picture"])
def test_a_paragraph_in_another_place_is_found_and_waits_for_a_person(graded, name):
    folder = graded[0]
    assert rows(folder)[name][f"{NAME}: why"] == "by hand"
    shown = {"below": "My <strong>derivation</strong>", "scan": f"{NAME}.pdf", "picture": PNG}
    assert shown[name] in tiny.page(folder, name)


@pytest.mark.parametrize("name", ODD)
def test_a_submission_gets_its_points_and_a_true_status(graded, name):
    row = rows(graded[0])[name]
    _, status, double, half = ODD[name]
    assert status in row["status"]
    assert tiny.points(row) == (double, half)


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_notebook_scores_nothing_and_says_so(graded, name):
    row = rows(graded[0])[name]
    assert FILES[name][1] in row["status"]
    assert row["total"] == "0"
    assert row["out of"] == "10"


def test_a_link_is_not_followed(graded):
    assert "a link" in rows(graded[0])["link"]["status"]
    assert rows(graded[0])["link"]["total"] == "0"


def test_paragraphs_wait_for_a_person(graded):
    found = rows(graded[0])
    assert found["good"]["total"] == "5 + up to 5 by hand"
    assert found["untouched"]["total"] == "0"  # nothing written, nothing to read
    assert "(not yet graded, of 5.0)" in tiny.page(graded[0], "good")
    assert "Question 1: Twice (test-double)" in tiny.page(graded[0], "good")
    assert "Test cell" not in tiny.page(graded[0], "good")


def test_everyone_has_a_feedback_page_that_says_what_the_status_says(graded):
    folder, done = graded
    for student, row in rows(folder).items():
        page = tiny.page(folder, student)
        assert "<script" not in page
        if row["status"] != "graded":
            assert "Note from the grading" in page
            assert f"{student}, {NAME}: {row['status']}" in done.stdout
    assert "Belongs to no assignment (1)" in done.stdout


def set_points(folder, student, points):
    code = (
        "import sys; from nbgrader.api import Gradebook\n"
        "with Gradebook(sys.argv[1], 'slnp') as book:\n"
        f"    grade = book.find_grade('why', '{NAME}', '{NAME}', '{student}')\n"
        f"    grade.manual_score, grade.needs_manual_grade = {points}, False\n"
        "    book.db.commit()\n"
    )
    url = f"sqlite:///{folder / 'out' / 'gradebook.db'}"
    subprocess.run([sys.executable, "-c", code, url], check=True)


def test_points_by_hand_last_until_the_paragraph_changes(graded):
    folder, _ = graded
    for student in ("good", "scratch"):
        set_points(folder, student, 4)
    assert grade(folder, "--report").returncode == 0
    assert rows(folder)["good"]["total"] == "9"
    assert rows(folder)["wrong"]["total"] == "2 + up to 5 by hand"
    release = tiny.student_version(folder)
    hand_in(folder, "good", solved(release, why="Another reason."))
    for student in ("good", "scratch"):
        done = grade(folder, "--student", student, "--no-rehearsal")
        assert done.returncode == 0, done.stderr
    found = rows(folder)
    assert "changed since it was graded by hand: why" in found["good"]["status"]
    assert found["good"]["total"] == "5 + up to 5 by hand"
    assert found["scratch"]["total"] == "9"  # graded again, but nothing in it has changed
    assert "wrong" in found  # the others stay in the table
    hand_in(folder, "good", solved(release, double=WRONG, half="def half(x):\n    return 7"))
    assert grade(folder, "--student", "good", "--question", "test-half", "--no-rehearsal")
    assert tiny.points(rows(folder)["good"]) == (3, 0)  # one question graded again


def test_a_package_that_the_grading_machine_lacks_is_not_the_students_fault(tmp_path):
    notebook = tiny.source()
    part(notebook, "setup").source = "import not_installed_here\nimport numpy as np"
    make_course(tmp_path, notebook)
    hand_in(tmp_path, "ann", notebook)
    done = grade(tmp_path)
    assert done.returncode == 2
    assert "Nobody was graded" in done.stderr
    assert "not_installed_here" in done.stderr
    assert not (tmp_path / "out" / "points.csv").exists()


@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_without_submissions_is_refused_in_a_sentence(tmp_path, exists):
    make_course(tmp_path, tiny.source())
    if not exists:
        (tmp_path / "submissions").rmdir()
    done = grade(tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    said = "has an assignment's name in its own: a0-tiny" if exists else "There is no folder"
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_slip_in_an_option_is_refused_in_a_sentence(tmp_path):
    make_course(tmp_path, tiny.source())
    hand_in(tmp_path, "ann", tiny.source())
    own = tmp_path / "class.csv"
    own.write_text("who;mail\nann;a@example.org\n", "utf-8")
    latin = tmp_path / "latin.csv"
    latin.write_bytes("student\nZoë\n".encode("latin-1"))
    for options, said in (
        (["--due", "a0-tyni=2026-11-20T23:59"], "No assignment is called a0-tyni: a0-tiny."),
        (["--due", f"{NAME}=tomorrow"], "--due wants a name and a time"),
        (
            ["--question", "test-tripple"],
            "in a0-tiny is called test-tripple; they are test-double,",
        ),
        (["--points-a-day", "2"], "--points-a-day needs a deadline: --due a0-tiny="),
        (["--report"], "Nothing was graded yet"),
        (["--roster", tmp_path / "none.csv"], "none.csv cannot be read: No such file"),
        (["--roster", own], "has no column called student or name: who;mail"),
        (["--roster", latin], "is not stored as UTF-8"),
        (["--student", "Bob"], "No file of Bob in"),
    ):
        done = grade(tmp_path, *options)
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_roster_with_semicolons_is_read(tmp_path):
    path = tmp_path / "class.csv"
    path.write_text("student;name\nann;Ann Bee\n", "utf-8")
    assert [row["name"] for row in roster.read_roster(path)] == ["Ann Bee"]


def test_without_a_sandbox_grading_refuses_unless_told(tmp_path):
    make_course(tmp_path, tiny.source())
    hand_in(tmp_path, "ann", solved(tiny.student_version(tmp_path)))
    lonely = os.environ | {"PATH": str(tmp_path)}  # neither bwrap nor podman nor docker
    done = grade(tmp_path, env=lonely)
    assert done.returncode == 2
    assert "There is no sandbox on this machine, so nobody was graded." in done.stderr
    assert "--no-sandbox" in done.stderr
    done = grade(tmp_path, "--no-sandbox", "--no-rehearsal", env=lonely)
    assert done.returncode == 0, done.stderr
    assert tiny.points(rows(tmp_path)["ann"]) == (3, 2)
    assert "Graded WITHOUT a sandbox" in done.stdout


DOCKER = """
import os, sys
given = sys.argv[1:]
if given[0] == "run":
    at = given.index("slnp-grading")
    assert given[at + 1 : at + 3] == ["python", "/grading/desk.py"]
    assert {{"--network=none", "--read-only", "--volume={inside}:/grading:ro"}} <= {{*given}}
    names = dict(g.removeprefix("--env=").split("=", 1) for g in given if g.startswith("--env="))
    names = {{k: v.replace("/home/student", os.getcwd()) for k, v in names.items()}}
    os.execve(sys.executable, [sys.executable, "{inside}/desk.py", *given[at + 3 :]], names)
"""


def test_a_container_takes_the_place_of_bubblewrap(tmp_path):
    """With a stand-in for docker: what we ask of it, not what it makes of that."""
    make_course(tmp_path, tiny.source())
    release = tiny.student_version(tmp_path)
    hand_in(tmp_path, "ann", solved(release))
    hand_in(tmp_path, "eve", solved(release, double=WRONG))
    docker, script = tmp_path / "docker", tmp_path / "docker.py"
    inside = tiny.ROOT / "course" / "grading" / "inside"
    script.write_text(DOCKER.format(inside=inside), "utf-8")
    docker.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n', "utf-8")
    docker.chmod(0o755)
    alone = os.environ | {"PATH": str(tmp_path)}  # time is the clock's here, so leave plenty
    done = grade(tmp_path, "--no-rehearsal", "--cell-seconds", "60", env=alone)
    assert done.returncode == 0, done.stderr
    assert "WITHOUT" not in done.stdout
    assert tiny.points(rows(tmp_path)["ann"]) == (3, 2)
    assert tiny.points(rows(tmp_path)["eve"]) == (0, 2)


# ------------------------------------------------------------------ the parts by themselves


def touch(folder, name):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


def test_names_of_moodle_and_canvas_are_understood(tmp_path):
    for name in (
        f"Ann Bee_4711_assignsubmission_file_/{NAME}.ipynb",
        f"Ann Bee_815_assignsubmission_file_{NAME}.ipynb",
        f"zeller_LATE_17_290_{NAME}-2.ipynb",
        f"zeller_17_280_{NAME}.ipynb",
        f"carl/deeper/{NAME}.ipynb",
        f"../{NAME}.ipynb".replace("..", ".hidden"),
    ):
        touch(tmp_path, name)
    found, other = collect.find(tmp_path, [NAME])
    seen = {(s.student, s.lms_id, s.late, len(s.notebooks)) for s in found}
    assert seen == {
        ("Ann-Bee", "4711", False, 1),
        ("Ann-Bee-815", "815", False, 1),
        ("zeller", "17", True, 2),
        ("carl", "", False, 1),
    }
    assert not other


def test_a_name_cannot_leave_its_folder():
    for name in ("../../etc", "..", "a/b", "\x1b[31mred", "=1+1", "<img src=x>", "a\nb"):
        safe = collect.identifier(clean.printable(name))
        assert not set(safe) & set("/\\<>\n\x1b =")
        assert not safe.startswith((".", "=", "-", "+", "@"))
    assert clean.one_line("a\x1b[2J\u202eb\u061cc\x07\nd") == "a b c d"


@pytest.mark.parametrize(
    "text",
    [
        "<script>fetch('/api')</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[a](JaVaScRiPt&colon;alert(1))",
        "![](http://example.org/x.png)",
        "![](file:///etc/passwd)",
        "<svg onload=alert(1)>",
        "<iframe src='file:///etc/passwd'>",
        "<a href='data:text/html,x'>y</a>",
        "[x]: javascript:alert(1)\n\n[x]",
        "<p style='background:url(http://x)'>x</p>",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1>'>",
        "<meta http-equiv=refresh content='0;url=http://e'>",
        "<form action=http://e><input type=submit></form>",
        "![image.png](attachment:missing.png)",
        r"$\href{javascript:alert(1)}{x}$",
        r"<div>$\&#104;ref{javascript:alert(1)}{x}$</div>",
        r"<div>$\hr<wbr>ef{javascript:alert(1)}{x}$</div>",
        r"$\mmlToken{mi}[href='javascript:alert(1)']{x}$",
        "[" * 100_000,
    ],
)
def test_a_harmful_text_is_shown_as_it_was_typed(text):
    shown = clean.clean_text(text)
    assert shown.startswith("*(shown as it was typed)*\n\n    ")
    assert len(shown) < 30_000  # a long one is cut: nbconvert's own patterns are quadratic
    html = clean.markdown2html(shown)
    assert clean.Tags(html).found == clean.Tags(clean.clean_html(html)).found


@pytest.mark.parametrize(
    "text",
    [
        "a < b & c > d, $a<b$, **bold**, <b>bold</b>, <https://example.org>",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\n- list",
        "$$\n\\begin{aligned} a &< b \\\\ c &> d\\end{aligned}\n$$",
        "```python\nx = '<script>'\n```",
        "<details><summary>s</summary>\n\nx\n\n</details>",
        "<span style='color: red'>red</span>",
    ],
)
def test_a_harmless_text_stays_as_it_is(text):
    assert clean.clean_text(text) == text


def test_every_text_of_the_assignments_is_harmless():
    for path in (tiny.ROOT / "course" / "assignments" / "source").glob("*/*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                assert clean.clean_text(cell.source) == cell.source


def test_formulas_need_no_script():
    shown = pages.with_formulas("<p>$\\mathbf x_1 &lt; 2$</p><pre>$no$</pre><p>$\\nonsense{$</p>")
    assert "<math" in shown
    assert "<pre>$no$</pre>" in shown
    for tex in (
        "\\href{javascript:alert(1)}{x}",
        "\\text{&lt;meta/http-equiv=refresh/content=0;url=http://e/&gt;}",
        "\\text{&lt;style&gt;*{display:none}&lt;/style&gt;}",
        "\\textcolor{&lt;img src=x&gt;}{x}",
    ):
        found = clean.Tags(pages.with_formulas(f"<p>${tex}$</p>")).found
        assert {tag for tag, _ in found} <= {"p"} | pages.MATHML
        assert not [name for _, names in found for name, _ in names if "href" in name]


def code(*texts):
    return [new_code_cell(text) for text in texts]


GIVEN = new_code_cell(
    "import numpy as np\nfrom slnp_edu.steps import exact_s_step as given",
    metadata={"nbgrader": {"locked": True}},
)
RULE = "# f is to be written without slnp_edu and sklearn, except s_step.\nf(1)"


@pytest.mark.parametrize(
    "texts",
    [
        ["from slnp_edu.steps import neighbours as n\ndef f(x):\n    return n(x)"],
        ["import slnp_edu.steps as s\ng = s.neighbours\ndef h(x):\n    return g(x)\nf = h"],
        ["import slnp_edu\nf = lambda x: slnp_edu.steps.neighbours(x)"],
        ["def f(x):\n    import sklearn.neighbors as k\n    return k.KDTree(x)"],
        ["import sklearn\nf = getattr(sklearn, 'neighbors')"],
        ["from slnp_edu import SLNP\nold = SLNP\ndef f(x):\n    return old()\ndef f2(x): return f"],
        ["import slnp_edu\ndef f(x):\n    return vars(slnp_edu)"],
        ["def f(x):\n    return x\nexec('def f(x): return 1')"],
        ["import numpy as np\nfrom slnp_edu import SLNP\nnp.sort = SLNP\ndef f(x): return np.sort"],
        ["def f(x):\n    return ().__class__.__bases__"],
        ["import helper_written_here\ndef f(x):\n    return helper_written_here.go(x)"],
        ["def f(x):\n    return g(x)", "from slnp_edu import SLNP\ndef g(x):\n    return SLNP(x)"],
        ["import sys\ndef f(x):\n    return sys.modules['slnp' + '_edu']"],
        ["import subprocess\ndef f(x):\n    return subprocess.run('x')"],
        ["from slnp_edu.steps import *\ndef f(x):\n    return project_to_simplex(x)"],
        ["import __main__\ndef f(x):\n    return __main__.given(x)"],
        ["def f(x):\n    def g():\n        given = 1\n    return given(x)"],
        ["def f(x):\n    [given for given in []]\n    return given(x)"],
        ["def f(x, g=lambda given: 0):\n    return given(x)"],
        ["def f(x):\n    global given\n    if 0:\n        given = 1\n    return given(x)"],
        ["if 0:\n    import numpy as given", "def f(x):\n    return given(x)"],
        ["%%time\nfrom slnp_edu import SLNP as s\ndef f(x):\n    return s(x)"],
        ["%time from slnp_edu import SLNP as s\ndef f(x):\n    return s(x)"],
        ["def f(x):\n    return np.lib.format.pickle.loads(b'x')(x)"],
        ["def f(x):\n    return np.load('x', allow_pickle=True)(x)"],
        ["from numpy import *\ndef f(x):\n    return load('x', None, True)(x)"],
        ["import pydoc\ndef f(x):\n    return pydoc.locate('slnp_' + 'edu.SLNP')(x)"],
        ["import operator\ndef f(x):\n    return operator.attrgetter('SLNP')(np)"],
        ["from sys import *\ndef f(x):\n    return modules['slnp' + '_edu']"],
        ["import sys\nsys.path.insert(0, '.')\ndef f(x):\n    return x"],
        ["from unittest import mock\nmock.patch.object(np, 'sort')\ndef f(x):\n    return x"],
    ],
)
def test_a_forbidden_function_is_found_however_it_is_named(texts):
    assert rules.broken_rule(RULE, [GIVEN, *code(*texts)])


@pytest.mark.parametrize(
    "texts",
    [
        ["import numpy as np\ndef f(x):\n    return np.sort(x)"],
        ["from slnp_edu.steps import neighbours\ndef other(x):\n    return neighbours(x)\nf = min"],
        ["from slnp_edu.steps import s_step\ndef f(x):\n    return s_step(x)"],
        ["from slnp_edu import SLNP\ndef f(x):\n    return SLNP()\ndef f(x):\n    return x"],
        ["def f(x):\n    sklearn = x + 1\n    return sklearn"],
        ["%matplotlib inline\n!pip install numpy\nimport os\ndef f(x):\n    return os.sep"],
        ["this is no python", "def f(x):\n    return x"],
        ["%%time\nfrom numpy import *\ndef f(x):\n    return sort(x)\n%timeit -n 1 f([1])"],
        ["from slnp_edu.steps import *\nfrom numpy import *\ndef f(x):\n    return sort(x)"],
        ["def f(x):\n    def g(given):\n        return given\n    return [g(a) for a in x]"],
        ["import pandas\nfrom tqdm.auto import tqdm\nfrom IPython.display import display\nf = min"],
        ["import re, sys\nP = re.compile('x')\ndef f(x):\n    return sys.maxsize"],
        ["import a_package_of_the_future", "def f(x):\n    return x"],
    ],
)
def test_allowed_code_breaks_no_rule(texts):
    assert rules.broken_rule(RULE, [GIVEN, *code(*texts)]) is None


def test_the_sandbox_sees_nothing_of_the_grading():
    sandbox = Sandbox("bubblewrap", Limits(), [tiny.ROOT / "course" / "assignments"])
    look = (
        "import os, pathlib\n"
        f"print([str(p) for p in pathlib.Path({str(tiny.ROOT)!r}).iterdir()])\n"
        "print(len([p for p in os.listdir('/proc') if p.isdigit()]), sorted(os.environ))\n"
        "print([p for p in ('/etc/passwd', '/root', '/sys', '/var') if os.path.exists(p)])"
    )
    shown = sandbox.ask({"run": look}, 10)["outputs"][0]["text"].splitlines()
    sandbox.close()
    inside = {Path(path).name for path in eval(shown[0])}
    assert inside <= {"slnp_edu", ".venv", "book"}
    assert int(shown[1].split()[0]) <= 3
    assert "SSH" not in shown[1]
    assert eval(shown[2]) in ([], ["/root"])


def test_a_clone_may_lie_under_tmp(monkeypatch):
    """What is shown there is there, and the student's own files go elsewhere."""
    if choose() != "bubblewrap":
        pytest.skip("no sandbox here: apt-get install bubblewrap")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr("grading.sandbox.module_folders", lambda: [Path(folder)])
        sandbox = Sandbox("bubblewrap", Limits())
        there = [path for path in (Path(folder), Path(sys.prefix)) if path.parts[1] == "tmp"]
        names = {path.parts[2] for path in there}  # this clone may lie there, too
        look = f"import os, tempfile\nprint(set(os.listdir('/tmp')) == {names!r})\n"
        look += "print(tempfile.NamedTemporaryFile().name.startswith('/home/student'))"
        shown = sandbox.ask({"run": look}, 10)["outputs"][0]["text"]
        sandbox.close()
    assert shown == "True\nTrue\n"


def test_what_is_installed_comes_before_a_file_of_the_same_name():
    sandbox = Sandbox(choose(), Limits())
    shadow = "open('tqdm.py', 'w').write('shadow = 1')\nimport tqdm\nprint(hasattr(tqdm, 'shadow'))"
    shown = sandbox.ask({"run": shadow}, 10)["outputs"][0]["text"]
    sandbox.close()
    assert shown == "False\n"


def test_comparing_has_a_bound_too():
    notebook, source = tiny.source(), tiny.source()
    part(source, "test-double").source = "while True:\n    pass"
    job = {"notebook": nbformat.writes(notebook), "source": nbformat.writes(source)}
    job |= {"student": "ann", "limits": {"cell_seconds": 1}, "sandbox": choose(), "hidden": []}
    names = [cell.metadata.nbgrader.grade_id for cell in notebook.cells]
    outputs = dict(zip(names, judged(job)["outputs"], strict=True))
    assert [output["ename"] for output in outputs["test-double"]] == ["TookTooLong"]
    assert outputs["test-half"] == []


def test_late_work_loses_points_by_the_day(tmp_path):
    path = tmp_path / "x.ipynb"
    path.touch()
    submission = collect.Submission("ann", NAME, notebooks=[path])
    from datetime import timedelta

    from grading.report import penalty_for

    given = {"due": {}, "points_a_day": 2, "grace_hours": 2}
    assert penalty_for(submission, given) == 0
    for late, lost in ((-5, 0), (1, 0), (3, 2), (23, 2), (25, 4), (49, 6)):
        given["due"][NAME] = (submission.when - timedelta(hours=late)).isoformat()
        assert penalty_for(submission, given) == lost


def test_rosters_list_missing_work_and_go_back_to_canvas_and_moodle(tmp_path):
    make_course(tmp_path, tiny.source())
    release = tiny.student_version(tmp_path)
    name = f"zeller_LATE_17_290_{NAME}.ipynb"
    path = tmp_path / "submissions" / name
    path.write_text(nbformat.writes(solved(release, why=STUB)), "utf-8")
    canvas = tmp_path / "canvas.csv"
    canvas.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,a0-tiny (88)\n"
        "    Points Possible,,,,,10\n"
        '"Zeller, Zoe",17,s1,zz,A,\n"Bee, Ann",18,s2,ab,A,\n"=cmd|x, Eve",19,s3,eb,A,\n',
        "utf-8",
    )
    due = ["--due", f"{NAME}=2001-01-01T00:00", "--points-a-day", "0.0001"]
    done = grade(tmp_path, "--roster", canvas, "--no-rehearsal", *due)
    assert done.returncode == 0, done.stderr
    assert "Nothing handed in (2):\n  Bee, Ann, a0-tiny\n  '=cmd|x, Eve" in done.stdout
    texts = csv.reader((tmp_path / "out" / "points.csv").read_text("utf-8").splitlines())
    assert not [text for row in texts for text in row if text.startswith(("=", "+", "@"))]
    assert "late" in rows(tmp_path)["zeller"]["status"]
    lines = (tmp_path / "out" / "canvas.csv").read_text("utf-8").splitlines()
    assert lines[0] == "Student,ID,SIS User ID,SIS Login ID,Section,a0-tiny (88)"
    assert lines[1] == "    Points Possible,,,,,10"  # Canvas's own row stays as it is
    assert lines[2].startswith('"Zeller, Zoe",17,s1,zz,A,4.')  # 5 points and the penalty
    assert lines[3] == '"Bee, Ann",18,s2,ab,A,0'
    moodle = tmp_path / "moodle.csv"
    moodle.write_text(
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade\n"
        "Participant 17,Zoe Zeller,z@example.org,Submitted,,10\n",
        "utf-8",
    )
    assert grade(tmp_path, "--report", "--roster", moodle).returncode == 0
    sheet = (tmp_path / "out" / f"moodle-{NAME}.csv").read_text("utf-8").splitlines()
    assert sheet[1].startswith("Participant 17,Zoe Zeller,z@example.org,Submitted,4.")


def test_roster_and_deadline_hold_until_others_are_given(tmp_path):
    make_course(tmp_path, tiny.source())
    release = tiny.student_version(tmp_path)
    hand_in(tmp_path, "ann", solved(release, double=WRONG))
    table = tmp_path / "class.csv"
    table.write_text("Student,ID,SIS Login ID\nann,17,ab\nbob,18,bb\n", "utf-8")
    due = ["--due", f"{NAME}=2001-01-01T00:00", "--points-a-day", "0.0001"]
    assert grade(tmp_path, "--roster", table, "--no-rehearsal", *due).returncode == 0
    first = tmp_path.joinpath("out", "canvas.csv").read_text("utf-8")
    hand_in(tmp_path, "ann", solved(release))
    table.unlink()
    done = grade(tmp_path, "--student", "ann", "--no-rehearsal")
    assert done.returncode == 0, done.stderr
    second = tmp_path.joinpath("out", "canvas.csv").read_text("utf-8")
    assert "ann,17,ab,1." in first  # 2 points and the penalty
    assert "ann,17,ab,4." in second
    assert "Nothing handed in (1):\n  bob" in done.stdout
    assert f"Deadlines: {NAME} 2001-01-01 00:00; 0.0001 points a day" in done.stdout
    assert "Roster: 2 students." in done.stdout
    done = grade(tmp_path, "--points-a-day", "0", "--no-rehearsal")
    assert "ann,17,ab,5" in tmp_path.joinpath("out", "canvas.csv").read_text("utf-8")


def test_moodle_numbers_people_anew_in_each_assignment(tmp_path):
    other = "a9-other"
    numbers = {
        NAME: {11: "Ann Bee", 12: "Zoe Z"},
        other: {21: "Ann Bee", 22: "Ann Bee", 23: "Zoe Z"},
    }
    sheets = []
    for assignment, people in numbers.items():
        lines = ["Identifier,Full name,Grade"]
        for number, name in people.items():
            touch(tmp_path, f"{name}_{number}_assignsubmission_file_/{assignment}.ipynb")
            lines.append(f"Participant {number},{name},")
        sheet = tmp_path / f"{assignment}.csv"
        sheet.write_text("\n".join(lines), "utf-8")
        sheets.append(roster.read_roster(sheet))
    found, _ = collect.find(tmp_path, [*numbers])
    entries = [{n: getattr(s, n) for n in ("student", "lms_id", "assignment")} for s in found]
    who = {entry["lms_id"]: entry["student"] for entry in entries}
    assert who["12"] == who["23"] == "Zoe-Z"  # one person
    assert len({who["11"], who["21"], who["22"]}) == 3  # two of the name, and who is the first?
    table = [
        entry | {"lms id": entry["lms_id"], "total": f"1{entry['lms_id']}"} for entry in entries
    ]
    assert len(roster.export(tmp_path, table, entries, sheets)) == 2
    for assignment, people in numbers.items():
        lines = (tmp_path / f"moodle-{assignment}.csv").read_text("utf-8").splitlines()[1:]
        assert lines == [f"Participant {n},{name},1{n}" for n, name in people.items()]
    said = roster.export(tmp_path, table, entries, sheets[:1])
    assert f"Nothing for Moodle on {other}: its worksheet is not among those given." in said
    assert not (tmp_path / f"moodle-{other}.csv").exists()  # it would have others' numbers


def test_a_sandbox_that_does_not_start_is_nobodys_fault(tmp_path):
    make_course(tmp_path, tiny.source())
    hand_in(tmp_path, "ann", solved(tiny.student_version(tmp_path)))
    broken = tmp_path / "docker"  # knows the image, but cannot run it
    broken.write_text('#!/bin/sh\n[ "$1" = run ] || exit 0\necho "no more rooms" >&2\nexit 1\n')
    broken.chmod(0o755)
    alone = os.environ | {"PATH": f"{tmp_path}"}
    done = grade(tmp_path, env=alone)
    assert done.returncode == 2
    assert "Nobody was graded" in done.stderr
    assert "the sandbox (docker) does not start: no more rooms" in done.stderr
    done = grade(tmp_path, "--no-rehearsal", env=alone)
    assert done.returncode == 0, done.stderr
    assert "NOT GRADED" in rows(tmp_path)["ann"]["status"]
    assert "the sandbox (docker) does not start: no more rooms" in rows(tmp_path)["ann"]["status"]


def test_a_container_ends_even_if_its_judge_is_killed(tmp_path):
    make_course(tmp_path, tiny.source())
    hand_in(tmp_path, "ann", solved(tiny.student_version(tmp_path)))
    docker, log = tmp_path / "docker", tmp_path / "log"
    docker.write_text(f'#!/bin/sh\necho "$1 $2" >> "{log}"\n[ "$1" != run ] || kill -9 $PPID\n')
    docker.chmod(0o755)
    done = grade(tmp_path, "--no-rehearsal", env=os.environ | {"PATH": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "NOT GRADED" in rows(tmp_path)["ann"]["status"]
    assert re.fullmatch(r"image inspect\nrun --rm\nkill judge-\w+\n", log.read_text())


def test_answers_that_are_much_alike_are_named():
    from grading.similar import alike

    one = (
        "def f(x):\n    total = 0\n    for item in x:\n        total += item ** 2\n    return total"
    )
    renamed = one.replace("total", "summe").replace("item", "wert")
    other = "def f(x):\n    return np.sum(np.square(x), axis=0) / len([y for y in x if y > 3])"
    cells = {("ann", "a"): code(one), ("bob", "a"): code(renamed), ("eve", "a"): code(other)}
    assert [pair[1:] for pair in alike(cells)] == [("ann", "bob", "a")]


def test_no_file_of_the_grading_is_too_long_to_read():
    for path in (tiny.ROOT / "course" / "grading").rglob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= 250, path


# ------------------------------------------------------------------ the page keeps its word

PROMISES = {  # a sentence of the page, and the test that keeps it
    "If they lose points on your machine, nobody is graded": "lacks_is_not_the_students_fault",
    "Of several copies the newest by its date is graded": "newest_counts_and_all_are_named",
    "capitals, underscores and accents may be stored in any way": "right_work_keeps_its_points",
    "What Moodle and Canvas let you download needs no renaming": "names_of_moodle_and_canvas",
    "A scan or a picture beside the notebook is named": "a_paragraph_in_another_place_is_found",
    "a page for the student: one file, no script, no network": "asks_for_nothing_and_runs_nothing",
    "the grades for your learning system": "go_back_to_canvas_and_moodle",
    "so a student is known there by name": "moodle_numbers_people_anew_in_each_assignment",
    "an assignment whose worksheet is missing gets no table": "moodle_numbers_people_anew",
    "hold until you give others": "roster_and_deadline_hold_until_others_are_given",
    "for instance because the sandbox did not start": "a_sandbox_that_does_not_start_is_nobodys",
    "answers that are much alike": "answers_that_are_much_alike_are_named",
    "So nothing is gained by changing tests, NumPy": "an_attack_gets_no_point_for_a_wrong_answer",
    "The hidden tests draw other numbers for each student": "hidden_tests_differ",
    "Time is computing time, so a busy machine takes no points": "a_busy_machine_takes_no_points",
    "is checked on the student's code": "a_forbidden_function_is_found_however_it_is_named",
    "Whoever is missing is listed": "rosters_list_missing_work",
    "Each day begun after the deadline costs": "late_work_loses_points_by_the_day",
    "grades one student again and leaves the others": "points_by_hand_last_until",
    "changes the points of that question alone": "points_by_hand_last_until",
    "Grading again later keeps points given by hand, unless": "points_by_hand_last_until",
    "Each notebook runs in a sandbox of its own": "the_sandbox_sees_nothing_of_the_grading",
    "other submissions, this repository and your environment": "nothing_outside_was_read_or",
    "Whatever it leaves running ends with the sandbox": "nothing_is_left_running",
    "ends with the grading, even if you kill that": "the_grading_or_a_judge_is_killed",
    "makes an image that `make grade` then uses": "a_container_takes_the_place_of_bubblewrap",
    "Without either, grading refuses": "without_a_sandbox_grading_refuses_unless_told",
    "a text with a script or a foreign picture is shown as it was typed": "a_harmful_text_is_shown",
    "What students write never runs at your side": "formgrader_runs_nothing_of_a_students",
    "Computing time is bounded per cell": "the_page_names_the_limits_of_the_code",
    "are data (`nbgrader_config.json`), not a program": "nothing_in_the_results_is_a_program",
    "which understands nbgrader's folders": "names_of_moodle_and_canvas_are_understood",
    "comparing has a bound of its own": "comparing_has_a_bound_too",
    "refuses if a student version no longer matches": "drift_is_refused_and_update_mends_it",
    "solutions score, stubs do not, wrong answers lose": "every_wrong_answer_loses_its_points",
}
STATUSES = ["not a notebook", "package not installed here", "ran out of memory", "called exit"]
STATUSES += ["stopped for too much output", "could not be interrupted", "ended the kernel"]
STATUSES += ["started too many processes", "text found elsewhere", "look at how it uses"]
STATUSES += ["changed since it was graded by hand", "showed too much", "waited"]
STATUSES += ["shown as it was typed", "NOT GRADED", "late"]
STATUSES += ["gave something other than numbers", "gave nan or infinity", "changes its arguments"]


def pages_for_teachers():
    folder = tiny.ROOT / "book"
    return "".join((folder / name).read_text("utf-8") for name in ("teaching.md", "grading.md"))


def test_every_promise_of_the_teaching_pages_has_its_test():
    page = pages_for_teachers()
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    tools = "".join(p.read_text("utf-8") for p in (tiny.ROOT / "course").rglob("*.py"))
    for promise, test in PROMISES.items():
        assert promise in page, promise
        assert re.search(rf"def test_\w*{test}\w*\(", tests), test
    for status in STATUSES:
        assert f"`{status}" in page
        assert status in tools


def test_the_page_names_the_limits_of_the_code():
    page = pages_for_teachers()
    limits = Limits()
    for text in (
        f"per cell ({limits.cell_seconds:g} s)",
        f"per notebook ({limits.notebook_seconds:g} s)",
        f"memory to {limits.memory_bytes / 1e9:g} GB",
        f"processes to {limits.processes}",
        f"a written file to {limits.file_bytes / 1e6:g} MB",
        f"output to {limits.output_bytes / 1e6:g} MB per cell",
        f"waiting to {limits.idle_seconds:g} s",
        f"{collect.LARGEST_FILE / 1e6:g} MB or {collect.MOST_CELLS:,} cells",
    ):
        assert text in re.sub(r"\s+", " ", page), text


def test_nothing_in_the_results_is_a_program(graded):
    assert not [*(graded[0] / "out").rglob("*.py")]
    assert (graded[0] / "out" / "nbgrader_config.json").exists()


EXAMPLES = {"test-above", "test-worst", "test-rising"}  # ask for data, so have none of their own


def test_hidden_tests_differ_from_student_to_student():
    from grading.judge import number_of

    assert len({number_of(name) for name in ("ann", "bob", "Ann", "ann-b")}) == 4
    for path in (tiny.ROOT / "course" / "assignments" / "source").glob("*/*.ipynb"):
        assert "STUDENT = 0" in path.read_text("utf-8")
        for cell in nbformat.read(path, as_version=4).cells:
            settings = cell.metadata.nbgrader
            if settings.grade and not settings.solution and settings.grade_id not in EXAMPLES:
                hidden = cell.source.partition("### BEGIN HIDDEN TESTS")[2]
                assert "STUDENT" in hidden, f"{path.stem}: {settings.grade_id}"
