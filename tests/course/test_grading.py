"""Grading: right work keeps its points, accidents cost what they should, files are understood."""

import html
import json
import os
import re
import subprocess
import sys
import unicodedata
from copy import deepcopy
from html.parser import HTMLParser

import nbformat
import pytest
import tiny
from grading import clean, collect, sandbox
from grading.course import judged
from grading.run import Sandbox
from grading.sandbox import Limits
from nbconvert.filters import markdown2html
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


def paste_picture(notebook):
    part(notebook, "why").source = "So:\n\n![image.png](attachment:image.png)"
    part(notebook, "why").attachments = {"image.png": {"image/png": PNG}}


WARNS = "def half(x):\n    import warnings\n    warnings.warn('hm')\n    return np.array(x) / 2"
DIVIDES = "def half(x):\n    _ = np.array([0.0]) / 0\n    return x / 2"
BAR = "from tqdm import tqdm\n\ndef double(x):\n    return sum(x for _ in tqdm(range(2)))"
OBJECT = "class Doubler:\n    def __call__(self, x):\n        return 2 * x\n\ndouble = Doubler()"
LISTS = "def half(x):\n    return [v / 2 for v in np.atleast_1d(x)]"
RIGHT = {  # all of these get full points, 3 and 2
    "good": lambda r: solved(r),
    "own-cell": lambda r: edited(
        r,
        after("q1", new_code_cell("def helper(x):\n    return 2 * x")),
        double="def double(x):\n    return helper(x)",
    ),
    "magic": lambda r: solved(r, double="%matplotlib inline\n!echo\n" + DOUBLE),
    "warns": lambda r: solved(r, half=WARNS),
    "divides": lambda r: solved(r, half=DIVIDES),
    "bar": lambda r: solved(r, double=BAR),
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
        r, after("why", new_markdown_cell("My **derivation**.")), why="Write your answer here."
    ),
    "reorders": lambda r: edited(r, lambda notebook: notebook.cells.reverse()),
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
    "loops": (lambda r: solved(r, double="while True:\n    pass"), "double (TookTooLong", 0, 2),
    "spins": (lambda r: solved(r, half=SPIN), "This cell could not be interrupted", 3, 0),
    "sleeps": (
        lambda r: solved(r, half="def half(x):\n    import time\n    time.sleep(999)"),
        "stopped: test-half (Ended: Your function waited for more than 6 s",
        3,
        0,
    ),
    "memory": (
        lambda r: solved(r, double="hoard = bytearray(10**10)\n" + DOUBLE),
        "stopped: double (MemoryError",
        0,
        2,
    ),
    "exits": (lambda r: solved(r, half="exit()"), "graded", 3, 0),
    "exits-in-test": (
        lambda r: solved(r, half="import sys\ndef half(x):\n    sys.exit()"),
        "stopped: test-half (SystemExit",
        3,
        0,
    ),
    "os-exits": (lambda r: solved(r, half="import os\nos._exit(0)"), "ended the kernel", 3, 0),
    "floods": (lambda r: solved(r, double="while True:\n    print('x' * 10000)"), "double (", 0, 2),
    "asks": (lambda r: solved(r, double="x = input()\n" + DOUBLE), "graded", 0, 2),
    "deletes": (
        lambda r: edited(r, delete_tests, double=WRONG),
        "cells put back: test-double, test-half",
        0,
        0,
    ),
    "package": (
        lambda r: solved(r, half="import tomorrows_package\n" + HALF),
        "ModuleNotFoundError: No module named 'tomorrows_package'",
        3,
        0,
    ),
}
SAID = {  # what the status of right work says
    "reorders": "cells put back: their order",
    "below": "text in a cell below, read as the answer: why",
}
FILES = {  # not notebooks at all
    "text": ("I could not do it, sorry.", "not a notebook"),
    "broken": ('{"cells": [', "not a notebook"),
    "empty": ("", "not a notebook: the file is empty"),
    "list": ("[1, 2]", "not a notebook"),
    "no-cells": ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "not a notebook"),
    "blank": (
        '{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
        "cells put back: intro, setup",
    ),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Everything above handed in at once, graded once."""
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
    done = grade(folder, "--no-rehearsal", env=os.environ | {"LC_ALL": "C", "HOME": "/nowhere"})
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.mark.parametrize("name", [*RIGHT, "mark", "ann-b", "cased", "Zoë", "copies"])
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
    assert f"copies/{NAME}-2.ipynb, copies/{NAME}.ipynb, copies/{NAME} (1).ipynb" in status


@pytest.mark.parametrize("name", ["below", "picture"])
def test_a_paragraph_in_another_place_is_found_and_waits_for_a_person(graded, name):
    folder = graded[0]
    assert rows(folder)[name][f"{NAME}: why"] == "by hand"
    path = folder / "out" / "autograded" / name / NAME / f"{NAME}.ipynb"
    shown = part(nbformat.read(path, as_version=4), "why")
    assert "My **derivation**." in shown.source or PNG in str(shown.attachments)


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
    assert "why: not yet graded of 5" in tiny.page(graded[0], "good")
    assert "<h2>Question 1: Twice (3 points)</h2>" in tiny.page(graded[0], "good")


def test_everyone_has_a_feedback_page_that_says_what_the_status_says(graded):
    folder, done = graded
    for student, row in rows(folder).items():
        page = tiny.page(folder, student)
        assert "<script" not in page
        assert html.escape(row["status"]) in page
        assert f"{student}, {NAME}: {row['status']}" in done.stdout
    assert "Belongs to no assignment (1)" in done.stdout
    assert "Paragraphs to grade by hand: " in done.stdout
    assert rows(folder)["cased"]["file"] == "submissions/cased/A0_Tiny.IPYNB"
    assert tiny.page(folder, "below").count("My **derivation**") == 1


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


def test_points_by_hand_last_until_the_paragraph_changes(tmp_path):
    make_course(tmp_path, tiny.source())
    release = tiny.student_version(tmp_path)
    for student in ("good", "same"):
        hand_in(tmp_path, student, solved(release))
    assert grade(tmp_path).returncode == 0
    for student in ("good", "same"):
        set_points(tmp_path, student, 4)
    assert grade(tmp_path, "--report").returncode == 0
    assert rows(tmp_path)["good"]["total"] == "9"
    hand_in(tmp_path, "good", solved(release, why="Another reason."))
    assert grade(tmp_path, "--no-rehearsal").returncode == 0
    found = rows(tmp_path)
    assert found["good"]["status"] == "changed since it was graded by hand: why"
    assert found["good"]["total"] == "5 + up to 5 by hand"
    assert found["same"]["total"] == "9"  # graded again, but nothing in it has changed


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
    said = "has an assignment's name in its own: a0-tiny" if exists else "There is no such folder"
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_slip_in_an_option_is_refused_in_a_sentence(tmp_path):
    make_course(tmp_path, tiny.source())
    hand_in(tmp_path, "ann", tiny.source())
    done = grade(tmp_path, "--report")
    assert done.returncode == 2
    assert "Nothing was graded yet" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_sandbox_grading_refuses(monkeypatch):
    monkeypatch.setattr(sandbox, "bubblewrap", lambda limits: ["/nowhere/bwrap"])
    with pytest.raises(sandbox.Refused, match="apt-get install bubblewrap"):
        sandbox.check_sandbox.__wrapped__()


def test_a_student_version_is_one_folder_deeper_too_and_moodle_needs_no_renaming(tmp_path):
    for name in ("Ann_4711_assignsubmission_file_/x", "zeller_LATE_17_290_", "carl/deeper/"):
        path = tmp_path / f"{name}{NAME}-2.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    found, other = collect.find(tmp_path, [NAME])
    students = [submission.student for submission in found]
    assert students == ["Ann_4711_assignsubmission_file", "carl", "zeller_LATE_17_290"]
    assert not other
    assert collect.whole_class(tmp_path, found) is None
    assert collect.whole_class(tmp_path.parent, found) == tmp_path.name  # grade that one alone


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
        "\\" * 100_000,
    ],
)
def test_nothing_in_a_text_acts(text):
    tags = Tags(markdown2html(clean.clean_text(text)))
    assert not {tag for tag, _ in tags.found} & {"script", "img", "svg", "iframe", "style", "meta"}
    assert not {tag for tag, _ in tags.found} & {"form", "input", "wbr", "math", "noscript"}
    links = [names["href"] for tag, names in tags.found if tag == "a"]
    assert all(link.startswith("http") for link in links)  # a bare address may stay a link
    assert not [name for _, names in tags.found for name in names if name.startswith("on")]
    assert not re.search(r"\\(href|mmlToken)", tags.read)  # as MathJax reads it


class Tags(HTMLParser):
    """The tags of a text with their attributes, and what is read between them."""

    def __init__(self, text):
        super().__init__()
        self.found, self.read = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.read += data


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
def test_a_harmless_text_stays_readable(text):
    assert clean.clean_text(text).replace(" ", "") == text.replace(" ", "")


def test_what_is_installed_comes_before_a_file_of_the_same_name():
    desk = Sandbox(Limits())
    shadow = "open('tqdm.py', 'w').write('shadow = 1')\nimport tqdm\nprint(hasattr(tqdm, 'shadow'))"
    shown = desk.ask({"run": shadow}, 10)["outputs"][0]["text"]
    desk.close()
    assert shown == "False\n"


def test_comparing_has_a_bound_too():
    notebook, source = tiny.source(), tiny.source()
    part(source, "test-double").source = "while True:\n    pass"
    job = {"notebook": nbformat.writes(notebook), "source": nbformat.writes(source)}
    job |= {"student": "ann", "limits": {"cell_seconds": 1}, "rows": [], "hidden": []}
    names = [cell.metadata.nbgrader.grade_id for cell in notebook.cells]
    outputs = dict(zip(names, judged(job)["outputs"], strict=True))
    assert [output["ename"] for output in outputs["test-double"]] == ["TookTooLong"]
    assert outputs["test-half"] == []


# ------------------------------------------------------------------ the page keeps its word


def test_the_page_names_the_limits_of_the_code_and_every_status():
    page = (tiny.ROOT / "book" / "grading.md").read_text("utf-8")
    limits = Limits()
    for text in (
        f"{limits.cell_seconds:g} s of CPU time per cell",
        f"{limits.notebook_seconds:g} s per notebook",
        f"{limits.memory_bytes / 1e9:g} GB",
        f"{limits.processes} processes",
        f"{collect.LARGEST_FILE / 1e6:g} MB or {collect.MOST_CELLS:,} cells",
        *("`graded`", "`not a notebook`", "`stopped`", "`cells put back`", "`several files`"),
        *("`text in a cell below`", "`changed since it was graded by hand`", "`NOT GRADED`"),
    ):
        assert text in re.sub(r"\s+", " ", page), text


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
