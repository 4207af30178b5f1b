"""The assignments: solutions score, stubs do not, wrong answers lose what they should."""

import csv
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import mutants
import nbformat
import pytest

ROOT = Path(__file__).parents[2]
ASSIGNMENTS = ROOT / "course" / "assignments"
TEACHING = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
PAGE = (ROOT / "book" / "assignments.md").read_text(encoding="utf-8")
TOOLS = ROOT / "course"
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


def paragraphs():
    """Assignment and cell of what is graded by hand."""
    cells = [(name, cell) for name in PRESENT for cell in notebook("source", name).cells]
    return [(n, c) for n, c in cells if nbgrader(c).get("grade") and nbgrader(c)["solution"]]


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


@pytest.mark.parametrize("name", PRESENT)
def test_an_assignment_names_chapters_that_exist(name):
    intro = notebook("source", name).cells[0].source
    belongs = next(line for line in intro.splitlines() if line.startswith("- **Belongs to**"))
    chapters = [nbformat.read(p, as_version=4).cells for p in (ROOT / "book").glob("[01]*.ipynb")]
    titles = re.findall(r"^# (.*)", "\n".join(cells[0].source for cells in chapters), re.M)
    named = re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", belongs)
    assert named
    assert {*named} <= {*titles}


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


# ------------------------------------------------------------------ wrong answers


def judged_with(name, answers):
    """What the tests say to each answer, which comes before the right one: a list of messages."""
    cells = [cell for cell in notebook("source", name).cells if cell.cell_type == "code"]
    long, at = [], []
    for position, cell in enumerate(cells):
        for answer in answers:
            if answer["grade_id"] == nbgrader(cell)["grade_id"]:
                tests = [c for c in cells[position:] if nbgrader(c)["grade_id"] in answer["loses"]]
                long += [cell | {"source": answer["source"]}, *tests]
                at.append((answer, range(len(long) - len(tests), len(long))))
        if nbgrader(cell)["grade_id"] != "run":  # needed by nothing after it
            long.append(cell)
    said = mutants.errors_of(name, long)
    return [(answer, [[e.evalue for e in said[n]] for n in tests]) for answer, tests in at]


@pytest.mark.parametrize("name", PRESENT)
def test_every_wrong_answer_loses_its_points_with_the_message_it_names(name):
    done = judged_with(name, wrong_answers(name))
    assert len(done) == len(wrong_answers(name)), "a wrong answer names no cell of the notebook"
    for answer, said in done:
        assert len(said) == len(answer["loses"])
        assert all(said), f"{answer['why']}: a test lets it pass"
        assert answer["message"] in str(said), (answer["why"], said)


def test_a_mistake_costs_points_once():
    name, missing = "a6-comparison", ("choice", "interval")
    cells = [cell for cell in notebook("source", name).cells if cell.cell_type == "code"][:-1]
    names = [nbgrader(cell)["grade_id"] for cell in cells]
    cells = [c | {"source": "1 / 0"} if nbgrader(c)["grade_id"] in missing else c for c in cells]
    lost = [n for n, said in zip(names, mutants.errors_of(name, cells), strict=True) if said]
    assert lost == ["choice", "test-choice", "test-first", "interval", "test-interval"]


@pytest.mark.course
@pytest.mark.parametrize("name", PRESENT)
def test_a_small_slip_loses_points(name):
    count, left = mutants.survivors(name)
    assert count >= 10
    assert not left
