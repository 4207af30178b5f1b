"""Hand the points to nbgrader: its gradebook and course folder, where Formgrader works."""

import warnings

import nbformat
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory

from grading.clean import clean_text
from grading.repair import is_paragraph, key

BY_HAND = "by hand"
warnings.filterwarnings("ignore", module="nbgrader")  # its queries make SQLAlchemy talk


def open_gradebook(config):
    return Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id)


def graded_notebook(course, student, assignment):
    """The cells of a notebook as they were graded; none if it wasn't."""
    path = course / "autograded" / student / assignment / f"{assignment}.ipynb"
    return nbformat.read(path, as_version=4).cells if path.exists() else []


def paragraphs(course, submission):
    cells = graded_notebook(course, submission.student, submission.assignment)
    return {key(cell): cell.source for cell in cells if is_paragraph(cell)}


def record(course, config, submission, notebook, notes):
    """Hand a judged notebook to nbgrader; return a note on paragraphs to be graded again."""
    student, assignment = submission.student, submission.assignment
    if notes:
        text = "**Note from the grading**\n\n" + "\n".join(f"- {note}" for note in notes)
        notebook.cells.insert(0, new_markdown_cell(clean_text(text)))
    before = paragraphs(course, submission)
    path = course / "submitted" / student / assignment / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    config.Execute.enabled = config.ClearOutput.enabled = False  # it has been run
    config.CourseDirectory.assignment_id = assignment
    config.CourseDirectory.student_id = student
    instance = Autograde(coursedir=CourseDirectory(config=config), config=config)
    instance.force = True
    instance.start()
    after, again = paragraphs(course, submission), []
    with open_gradebook(config) as gradebook:
        for grade in gradebook.find_submission_notebook(assignment, assignment, student).grades:
            if grade.manual_score is not None:
                grade.needs_manual_grade = before.get(grade.name) != after.get(grade.name)
                again += [grade.name] if grade.needs_manual_grade else []
        gradebook.db.commit()
    return [f"changed since it was graded by hand: {', '.join(again)}"] if again else []


def points_of(gradebook, student, assignment):
    """{question: (points, or BY_HAND; maximum; comment)} in the notebook's order."""
    try:
        notebook = gradebook.find_submission_notebook(assignment, assignment, student)
    except MissingEntry:
        return {}
    order = [cell.name for cell in gradebook.find_notebook(assignment, assignment).source_cells]
    comments = {comment.name: comment.comment or "" for comment in notebook.comments}
    points = {}
    for grade in sorted(notebook.grades, key=lambda grade: order.index(grade.name)):
        waits = grade.needs_manual_grade and grade.cell.cell_type == "markdown"
        score = BY_HAND if waits else float(f"{grade.score:g}")
        points[grade.name] = score, grade.max_score, comments.get(grade.name, "")
    return points
