"""The assignments: solutions score, stubs do not, wrong answers lose what they should."""

import csv
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from grading.course import judged
from grading.sandbox import choose

ROOT = Path(__file__).parents[2]
ASSIGNMENTS = ROOT / "course" / "assignments"
TEACHING = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
PAGE = (ROOT / "book" / "assignments.md").read_text(encoding="utf-8")
TOOLS = ROOT / "course"
CHAPTERS = sorted((ROOT / "book").glob("[01]*.ipynb"))
NAMES = [
    "a1-neighbours",
    "a2-similarities",
    "a3-s-step",
    "a4-gamma-step",
    "a5-algorithm",
    "a6-comparison",
]
PRESENT = sorted(path.parent.name for path in ASSIGNMENTS.glob("source/*/*.ipynb"))


def notebook(kind, name):
    return nbformat.read(ASSIGNMENTS / kind / name / f"{name}.ipynb", as_version=4)


def nbgrader(cell):
    return cell.metadata.get("nbgrader", {})


def wrong_answers(name):
    path = ASSIGNMENTS / "wrong_answers" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WRONG


def python(script, *arguments):
    command = [sys.executable, TOOLS / script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=3000)


def test_the_assignments_are_there():
    assert PRESENT == NAMES


def paragraphs():
    """Assignment and cell of what is graded by hand."""
    cells = [(name, cell) for name in PRESENT for cell in notebook("source", name).cells]
    return [(n, c) for n, c in cells if nbgrader(c).get("grade") and nbgrader(c)["solution"]]


@pytest.mark.parametrize(
    "page",
    ["README.md", "paper.md"]
    + [f"book/{name}.md" for name in ("index", "teaching", "assignments", "grading")],
)
def test_pages_that_count_assignments_and_paragraphs_count_right(page):
    words = (ROOT / page).read_text(encoding="utf-8").lower()
    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    for things, there in (
        (r"(?:`nbgrader` (?:\[\S+\] )?)?assignments", PRESENT),
        (r"(?:paragraphs|of them [\d to]+ are for a paragraph)", paragraphs()),
    ):
        for said in re.finditer(rf"\b({'|'.join(numbers)}) {things}", words):
            assert numbers.index(said[1]) + 1 == len(there), said[0]


def test_there_are_at_least_20_wrong_answers():
    assert sum(len(wrong_answers(name)) for name in PRESENT) >= 20


@pytest.mark.parametrize("name", PRESENT)
def test_the_source_is_well_formed(name):
    cells = notebook("source", name).cells
    ids = [nbgrader(cell)["grade_id"] for cell in cells if nbgrader(cell)]
    assert len(ids) == len(set(ids))
    assert sum(nbgrader(cell).get("points", 0) for cell in cells) == 20
    assert not any(cell.get("outputs") for cell in cells)
    assert all(nbgrader(cell) for cell in cells), "a cell that is neither locked nor an answer"
    for cell in cells:
        is_test = nbgrader(cell).get("grade") and not nbgrader(cell)["solution"]
        assert ("BEGIN HIDDEN TESTS" in cell.source) <= bool(is_test)


@pytest.mark.parametrize("name", PRESENT)
def test_the_student_version_gives_nothing_away(name):
    text = (ASSIGNMENTS / "release" / name / f"{name}.ipynb").read_text()
    assert "BEGIN" not in text
    released = notebook("release", name)
    assert all(not cell.get("outputs") for cell in released.cells)
    stubs = [c for c in released.cells if nbgrader(c).get("solution") and c.cell_type == "code"]
    assert stubs
    assert all("Write your answer here." in cell.source for cell in stubs)
    assert "<details><summary>Hint" in "".join(cell.source for cell in released.cells)


@pytest.mark.parametrize("name", PRESENT)
def test_time_and_points_are_the_same_in_the_notebook_and_on_the_page(name):
    cells = notebook("source", name).cells
    intro = cells[0].source
    minutes = re.search(r"\*\*Expected time\*\*: (\d+) minutes", intro)[1]
    assert 45 <= int(minutes) <= 120
    by_hand = sum(nbgrader(c).get("points", 0) for c in cells if nbgrader(c).get("solution"))
    points = "20" + (f", of which {by_hand} are graded by hand" if by_hand else "")
    assert f"- **Points**: {points}\n" in intro
    row = next(
        line for line in PAGE.splitlines() if f"<../course/assignments/release/{name}/" in line
    )
    assert f"| {minutes} min | 20 | {by_hand} |" in row
    asked = re.findall(r"^## .*\((.*?) points?\b", "\n".join(c.source for c in cells), re.M)
    assert sum(int(part) for text in asked for part in text.split("+")) == 20


@pytest.mark.parametrize("name", PRESENT)
def test_the_map_of_goals_has_every_goal_and_every_question(name):
    cells = notebook("source", name).cells
    goals = re.findall(r"^- (?!\*\*)", cells[0].source, re.M)
    table = TEACHING.partition("## Which question serves which goal")[2].partition("\n## ")[0]
    rows = table.partition(f"| `{name}` |")[2].partition("| `a")[0].strip().splitlines()
    asked = re.findall(r"^## Question (\d)", "\n".join(c.source for c in cells), re.M)
    served = [number for row in rows for number in re.findall(r"\d", row.split("|")[-2])]
    assert len(rows) == len(goals)
    assert sorted(served) == asked


def test_the_rubric_is_the_teachers_and_lists_every_paragraph():
    rubric = (ROOT / "course" / "rubric.md").read_text(encoding="utf-8")
    for name, cell in paragraphs():
        row = f"| `{name}`, {nbgrader(cell)['grade_id']} | {nbgrader(cell)['points']} |"
        assert row in rubric
    assert "typical loss" not in TEACHING + PAGE


def test_all_assignments_say_alike_how_they_work():
    texts = [notebook("source", name).cells for name in PRESENT]
    starts = {c[0].source.partition("**How it works.**")[2].split("\n\n")[0] for c in texts}
    ways = {c[0].source.partition("**Before you hand in.**")[2].split("\n\n")[0] for c in texts}
    assert len(starts) == len(ways) == len({c[-1].source for c in texts}) == 1
    assert all("How to do an assignment" in way for way in ways)
    assert "# How to do an assignment" in PAGE
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"/slnp_edu-{project['version']}-py3-none-any.whl[course]" in PAGE
    assert f"/slnp_edu-{project['version']}-py3-none-any.whl`" in TEACHING


def test_validate_fails_on_as_many_cells_as_the_page_says(tmp_path):
    said = re.search(r"untouched `a4-gamma-step` (\w+) cells fail; .* it is (\w+)\.", PAGE)
    counts = [["ten", "eleven"].index(word) + 10 for word in said.groups()]
    untouched, begun = notebook("release", "a4-gamma-step"), notebook("release", "a4-gamma-step")
    answers = {c.id: c.source for c in notebook("source", "a4-gamma-step").cells}
    next(c for c in begun.cells if c.id == "eta").source = answers["eta"]
    for count, handed_in in zip(counts, (untouched, begun), strict=True):
        nbformat.write(handed_in, tmp_path / "a4-gamma-step.ipynb")
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", "validate", "a4-gamma-step.ipynb"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            timeout=200,
        )
        assert f"VALIDATION FAILED ON {count} CELL(S)!" in done.stdout, done.stderr


# ------------------------------------------------------------------ drift


def test_the_committed_student_versions_are_what_their_sources_give():
    done = python("make_assignments.py")
    assert done.returncode == 0, done.stderr
    assert "wrote" not in done.stdout, "a student version was missing; it is written now"


def test_drift_is_refused_and_update_mends_it(tmp_path):
    name = PRESENT[0]
    shutil.copytree(ASSIGNMENTS / "source" / name, tmp_path / "source" / name)
    shutil.copytree(ASSIGNMENTS / "release" / name, tmp_path / "release" / name)
    shutil.copytree(ASSIGNMENTS / "release" / name, tmp_path / "release" / "gone")
    shutil.copy(ASSIGNMENTS / "nbgrader_config.json", tmp_path)
    path = tmp_path / "release" / name / f"{name}.ipynb"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"points", b"Points", 1))
    done = python("make_assignments.py", "--folder", tmp_path)
    assert done.returncode == 1
    assert f"The student version of {name} is not what its source gives." in done.stderr
    assert "The student version of gone has no source." in done.stderr
    assert "make assignments UPDATE=1" in done.stderr
    assert path.read_bytes() != before
    assert python("make_assignments.py", "--folder", tmp_path, "--update").returncode == 0
    assert path.read_bytes() == before
    assert not (tmp_path / "release" / "gone").exists()


# ------------------------------------------------------------------ points


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The solutions and the untouched student versions, handed in and graded like any other."""
    if choose() is None:
        pytest.skip("no sandbox here: apt-get install bubblewrap")
    folder = tmp_path_factory.mktemp("course")
    for name in PRESENT:
        for student, kind in (("solver", "source"), ("nobody", "release")):
            (folder / "in" / student).mkdir(parents=True, exist_ok=True)
            shutil.copy(ASSIGNMENTS / kind / name / f"{name}.ipynb", folder / "in" / student)
    done = python("grade.py", folder / "in", "--out", folder / "out", "--no-rehearsal")
    assert done.returncode == 0, done.stderr
    with (folder / "out" / "points.csv").open(newline="") as file:
        rows = {(row["student"], row["assignment"]): row for row in csv.DictReader(file)}
    return rows | {"folder": folder / "out"}


@pytest.mark.parametrize("name", PRESENT)
def test_the_solution_scores_every_autograded_point(graded, name):
    row = graded["solver", name]
    for cell in notebook("source", name).cells:
        if nbgrader(cell).get("grade"):
            by_hand = nbgrader(cell)["solution"]
            points = row[f"{name}: {nbgrader(cell)['grade_id']}"]
            assert points == ("by hand" if by_hand else f"{nbgrader(cell)['points']:g}")


@pytest.mark.parametrize("name", PRESENT)
def test_the_untouched_student_version_scores_nothing(graded, name):
    row = graded["nobody", name]
    assert row["status"] == "graded"
    assert row["total"] == "0"
    assert row["out of"] == "20"
    questions = {key: value for key, value in row.items() if key.startswith(f"{name}:")}
    assert questions
    assert set(questions.values()) == {"0"}


def test_the_model_conclusion_has_the_numbers_that_its_run_prints(graded):
    path = Path(graded["folder"]) / "autograded" / "solver" / "a6-comparison"
    cells = {c.id: c for c in nbformat.read(path / "a6-comparison.ipynb", as_version=4).cells}
    printed = cells["run"].outputs[0].text
    numbers = re.findall(r"^SLNP .*?([+-]?\d+\.\d) \+- (\d+\.\d)", printed, re.M)
    assert len(numbers) == 3
    for mean, half in numbers:
        assert f"{mean} ± {half}" in cells["conclusion"].source


# ------------------------------------------------------------------ wrong answers


SLOW = {"run"}  # needed by nothing after it


def with_wrong_answers(name):
    """One notebook for one judge: before each right answer, the wrong ones with their tests.

    Code that hides what it uses spoils all later questions that forbid something, so it comes
    last. Returns the notebook and, for each wrong answer, the positions of the tests it must lose.
    """
    cells = [cell for cell in notebook("source", name).cells if cell.cell_type == "code"]
    ids = [nbgrader(cell).get("grade_id") for cell in cells]
    long, losing = [], []

    def insert(wrong):
        position = ids.index(wrong["grade_id"])
        last = max(ids.index(test) for test in wrong["loses"])
        long.append(deepcopy(cells[position]))
        long[-1].source = wrong["source"]
        at = []
        for following in cells[position + 1 : last + 1]:
            is_test = nbgrader(following).get("grade")
            if not is_test or nbgrader(following)["grade_id"] in wrong["loses"]:
                long.append(deepcopy(following))
                at += [len(long) - 1] if is_test else []
        losing.append((wrong, at))

    hiding = [w for w in wrong_answers(name) if "Nobody can see" in w["message"]]
    for position, cell in enumerate(cells):
        for wrong in wrong_answers(name):
            if wrong["grade_id"] == ids[position] and wrong not in hiding:
                insert(wrong)
        if ids[position] not in SLOW:
            long.append(deepcopy(cell))
    for wrong in hiding:
        insert(wrong)
    for number, cell in enumerate(long):
        cell.id = str(number)
    return nbformat.v4.new_notebook(cells=long), losing


def run(long, name, student):
    """The outputs that the judge gives the cells of a notebook."""
    if choose() is None:
        pytest.skip("no sandbox here: apt-get install bubblewrap")
    job = {
        "notebook": nbformat.writes(long),
        "source": (ASSIGNMENTS / "source" / name / f"{name}.ipynb").read_text(encoding="utf-8"),
        "student": student,
        "limits": {"cell_seconds": 60, "notebook_seconds": 400},
        "sandbox": choose(),
        "hidden": [str(ASSIGNMENTS)],
    }
    verdict = judged(job)
    assert not verdict["ended"]
    for cell, outputs in zip(long.cells, verdict["outputs"], strict=True):
        cell.outputs = nbformat.from_dict(outputs)
    return long


def errors(cell):
    return [output for output in cell.outputs if output.output_type == "error"]


@pytest.mark.parametrize("name", PRESENT)
def test_every_wrong_answer_loses_its_points_with_the_message_it_names(name):
    long, losing = with_wrong_answers(name)
    assert len(losing) == len(wrong_answers(name)), "a wrong answer names no cell of the notebook"
    done = run(long, name, student="ann")
    expected = {position for _, at in losing for position in at}
    failed = {
        n for n, cell in enumerate(done.cells) if nbgrader(cell).get("grade") and errors(cell)
    }
    for wrong, at in losing:
        assert failed >= set(at), f"{wrong['why']}: a test lets it pass"
        said = [error.evalue for position in at for error in errors(done.cells[position])]
        assert wrong["message"], f"{wrong['why']}: say what the student must be told"
        assert any(wrong["message"] in text for text in said), (wrong["why"], said)
    assert failed == expected, "a right answer after a wrong one loses points"


# ------------------------------------------------------------------ right in another way

SQUARES = """
def kkt_residual(s, d, gamma):
    total = np.asarray(s) + np.asarray(d) / (2 * gamma)
    b = total - total.min()
    return np.sum((b * s) ** 2) + np.sum(np.minimum(s, 0) ** 2) + (np.sum(s) - 1) ** 2
"""
SLIP = "def cv_rate(X_train, y_train, K, d, folds):\n    return 50.0 + d"
INSTEAD_1 = """
def choose(X, y, train, grid):
    folds = folds_of(y[train])
    rates = [wanted_cv(X[train], y[train], K, d, folds) for K, d in grid]
    return grid[int(np.argmax(rates))]
"""
INSTEAD_2 = """
def compare_methods(X, y, seeds, grid):
    rates = {"PCA": [], "LDA, C - 1": [], "SLNP": []}
    for seed in seeds:
        train, _ = random_split(y, N_I, seed)
        K, d = wanted_choice(X, y, train, grid)
        found = evaluate(X, y, N_i=N_I, D_PCA=D_PCA, d=d, K=K, seed=seed, methods=list(rates))
        for method in rates:
            rates[method].append(found[method]["orthonormal"])
    return rates
"""
STUB = "raise NotImplementedError"
OTHERWISE = {  # a case: (assignment, {answer: code}, the tests that it fails)
    "the residual is a sum of squares": ("a3-s-step", {"kkt": SQUARES}, []),
    "the row by functools.partial": (
        "a3-s-step",
        {
            "row": "from functools import partial\n\ns_row = partial(lambda f, d, gamma: "
            "f(-np.asarray(d) / (2 * gamma)), project)"
        },
        [],
    ),
    "a slip in question 1": ("a6-comparison", {"cv": SLIP, "choice": INSTEAD_1}, ["test-cv"]),
    "question 1 by the function of its test": (
        "a6-comparison",
        {"cv": "def cv_rate(*args):\n    return wanted_cv(*args)"},
        ["test-cv"],
    ),
    "nothing in questions 1 and 2": (
        "a6-comparison",
        {"cv": STUB, "choice": STUB, "compare": INSTEAD_2},
        ["test-cv", "test-choice"],
    ),
}


@pytest.mark.parametrize("case", OTHERWISE)
def test_what_is_right_in_another_way_keeps_its_points(case):
    name, answers, expected = OTHERWISE[case]
    cells = [cell for cell in notebook("source", name).cells if cell.cell_type == "code"]
    cells = [cell for cell in cells if nbgrader(cell)["grade_id"] not in SLOW]
    for cell in cells:
        cell.source = answers.get(nbgrader(cell)["grade_id"], cell.source)
    done = run(nbformat.v4.new_notebook(cells=cells), name, student="bob")
    failed = [nbgrader(c)["grade_id"] for c in done.cells if nbgrader(c).get("grade") and errors(c)]
    assert failed == expected, [error.evalue for cell in done.cells for error in errors(cell)]
