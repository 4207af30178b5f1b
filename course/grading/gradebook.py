"""nbgrader's part: the gradebook, the course folder, the feedback pages."""

import logging
import warnings

import nbformat
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateFeedback, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import is_grade, is_solution

from grading.clean import clean_text
from grading.repair import key

BY_HAND = "by hand"
warnings.filterwarnings("ignore", module="nbgrader")  # its queries make SQLAlchemy talk


def open_gradebook(config):
    return Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id)


def convert(converter, config, assignment, student):
    config.CourseDirectory.assignment_id = assignment
    config.CourseDirectory.student_id = student
    instance = converter(coursedir=CourseDirectory(config=config), config=config)
    instance.force = True
    instance.start()


def paragraphs(path):
    """{name: text} of the answers graded by hand in a notebook that has been graded."""
    if not path.exists():
        return {}
    cells = nbformat.read(path, as_version=4).cells
    by_hand = [c for c in cells if is_grade(c) and is_solution(c)]
    return {key(cell): cell.source for cell in by_hand}


def record(course, config, submission, notebook, notes, question=None):
    """Hand a judged notebook to nbgrader; return the names of paragraphs to be graded again.

    With `question`, the points of all other questions stay as they are.
    """
    student, assignment = submission.student, submission.assignment
    if notes:
        text = "**Note from the grading**\n\n" + "\n".join(f"- {note}" for note in notes)
        notebook.cells.insert(0, new_markdown_cell(clean_text(text)))
    graded = course / "autograded" / student / assignment / f"{assignment}.ipynb"
    before = paragraphs(graded)
    kept = scores(config, student, assignment) if question else {}
    path = course / "submitted" / student / assignment / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    stamp = submission.when.strftime("%Y-%m-%d %H:%M:%S.%f")
    (path.parent / "timestamp.txt").write_text(stamp, encoding="utf-8")
    config.Execute.enabled = config.ClearOutput.enabled = False  # it has been run
    convert(Autograde, config, assignment, student)
    after = paragraphs(graded)
    again = []
    with open_gradebook(config) as gradebook:
        for grade in gradebook.find_submission_notebook(assignment, assignment, student).grades:
            if grade.name in kept and grade.name != question:
                grade.auto_score = kept[grade.name]
            if grade.manual_score is None:
                continue
            changed = before.get(grade.name) != after.get(grade.name)
            grade.needs_manual_grade = changed
            again += [grade.name] if changed else []
        gradebook.db.commit()
    return again


def scores(config, student, assignment):
    """{question: points given by the tests} of an earlier grading."""
    with open_gradebook(config) as gradebook:
        try:
            notebook = gradebook.find_submission_notebook(assignment, assignment, student)
        except MissingEntry:
            return {}
        return {grade.name: grade.auto_score for grade in notebook.grades}


def set_penalty(config, submission, points):
    """Take points off for a late submission, where nbgrader and its feedback expect it."""
    with open_gradebook(config) as gradebook:
        name = submission.assignment
        notebook = gradebook.find_submission_notebook(name, name, submission.student)
        notebook.late_submission_penalty = points
        gradebook.db.commit()


def points_of(gradebook, student, assignment):
    """{question: points, or BY_HAND}, {question: maximum} in the notebook's order, penalty."""
    try:
        notebook = gradebook.find_submission_notebook(assignment, assignment, student)
    except MissingEntry:
        return {}, {}, 0
    order = [cell.name for cell in gradebook.find_notebook(assignment, assignment).source_cells]
    grades = sorted(notebook.grades, key=lambda grade: order.index(grade.name))
    points = {}
    for grade in grades:
        waits = grade.needs_manual_grade and grade.cell.cell_type == "markdown"
        points[grade.name] = BY_HAND if waits else float(f"{grade.score:g}")
    return points, {g.name: g.max_score for g in grades}, notebook.late_submission_penalty or 0


def write_feedback(config, assignment):
    """nbgrader's pages; report.py makes them readable without a network."""
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    config.CSSHTMLHeaderPreprocessor.enabled = True
    try:
        convert(GenerateFeedback, config, assignment, "*")
    except NbGraderException:
        return False
    return True
