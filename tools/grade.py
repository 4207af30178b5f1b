"""Grade a folder of students' notebooks with nbgrader: feedback, one CSV of points, a summary.

Usage: python tools/grade.py SUBMISSIONS [--out FOLDER] [--report]

Any file whose name holds the name of an assignment counts, in the layouts
  SUBMISSIONS/<student>/a1-neighbours.ipynb         (also one folder deeper, as nbgrader collects)
  SUBMISSIONS/<student>_a1-neighbours.ipynb
The results go to FOLDER (SUBMISSIONS-graded beside it), which is an nbgrader course folder. After
grading paragraphs by hand there, --report writes the pages, the CSV and the summary again and runs
no student's code. book/teaching.md tells how to use it and what it protects from.
"""

import argparse
import ast
import builtins
import collections
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import nbformat
import psutil
from bounded import NOTE, error
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde, GenerateFeedback, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import OverwriteCells
from nbgrader.utils import determine_grade, is_grade, is_locked, is_solution
from tqdm import tqdm

from assignments import ASSIGNMENTS, configuration, generate, names

BOUNDED = Path(__file__).resolve().parent / "bounded.py"
# Made absolute now: nbgrader changes the working folder while other threads run.
PYTHONPATH = ":".join(os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(":") if p)
warnings.filterwarnings("ignore", module="nbgrader")  # its queries make SQLAlchemy talk
LARGEST_FILE = 20_000_000  # bytes
BY_HAND = "by hand"


class Refused(Exception):
    """The grading cannot go on; the message says why."""


# ------------------------------------------------------------------ what was handed in


def find_submissions(folder, assignments):
    """{(student, assignment): paths}, and the files that belong to no assignment."""
    found, other = collections.defaultdict(list), []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_dir() or any(part.startswith(".") for part in parts):
            continue
        matches = [name for name in assignments if name in path.name]
        if not matches and len(parts) > 2:
            matches = [name for name in assignments if name in path.parent.name]
        before = path.name.partition(matches[0])[0] if matches else ""
        student = re.sub(r"[^\w.@+-]", "-", parts[0] if len(parts) > 1 else before).strip("._@+- ")
        if matches and student:
            found[student, matches[0]].append(path)
        else:
            other.append(path)
    return dict(found), other


def read(path):
    """The notebook in a file; ValueError says what else it is."""
    if path.is_symlink() or not path.is_file():
        raise ValueError("not a notebook: a link or a special file")
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError("not graded: the file is larger than 20 MB")
    if path.stat().st_size == 0:
        raise ValueError("not a notebook: the file is empty")
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        for cell in notebook.cells:
            if not isinstance(cell.source, str) or not isinstance(cell.metadata, dict):
                raise TypeError
    except Exception as problem:
        raise ValueError("not a notebook: it cannot be read as one") from problem
    return notebook


def key(cell):
    """The name of a cell: its grade_id, or the id that the student version gave it."""
    nbgrader = cell.metadata.get("nbgrader")
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return name if isinstance(name, str) else cell.get("id")


def repair(submission, release):
    """The submission in the order and with the locked cells of the student version, and notes.

    Answers and the student's own cells stay; nothing else of the submission is believed, neither
    metadata nor outputs. nbgrader puts the hidden tests back afterwards.
    """
    known = {key(cell): cell for cell in release.cells}
    owned = {name for name, cell in known.items() if "nbgrader" in cell.metadata}
    theirs, doubled = {}, set()
    for position, cell in enumerate(submission.cells):
        if key(cell) in known:
            doubled |= {key(cell)} & theirs.keys() & owned
            theirs[key(cell)] = position  # the last one counts, as with nbgrader
    own, anchor = collections.defaultdict(list), None
    for position, cell in enumerate(submission.cells):
        if theirs.get(key(cell)) == position:
            anchor = key(cell)
        elif cell.cell_type in ("code", "markdown"):
            make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
            own[anchor].append(make(cell.source))
    cells, changed = own[None], []
    for name, cell in known.items():
        if name in theirs and is_locked(cell):
            changed += [name] if submission.cells[theirs[name]].source != cell.source else []
        elif name in theirs:
            cell.source = submission.cells[theirs[name]].source
        elif name not in owned:
            continue
        cells += [cell, *own[name]]
    release.cells = cells

    missing = [name for name in known if name in owned and name not in theirs]
    notes = []
    if not owned & theirs.keys():
        notes.append("none of the assignment's cells are in it")
    elif missing:
        notes.append(f"deleted cells put back: {', '.join(missing)}")
    if changed:
        notes.append(f"changed locked cells restored: {', '.join(changed)}")
    if doubled:
        notes.append(f"cells in it twice, the last counts: {', '.join(sorted(doubled))}")
    if sorted(theirs, key=theirs.get) != [name for name in known if name in theirs]:
        notes.append("cells reordered; put back in order")
    return release, notes


def parsed(cells):
    """The syntax tree of the cells that have one (magics and typing errors have none)."""
    trees = []
    for cell in cells:
        try:
            trees.append(ast.parse(cell.source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return ast.Module([node for tree in trees for node in tree.body], [])


def imported(tree):
    """The names that import statements bind."""
    statements = (node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    return {(a.asname or a.name).split(".")[0] for node in statements for a in node.names}


def names_in(tree, context=ast.expr_context):
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, context)}


def look_at(notebook):
    """Notes on code that meddles with what the tests rely on. For a human to judge; no points."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    tests = parsed(cell for cell in code if is_locked(cell))
    answers = parsed(cell for cell in code if not is_locked(cell))
    modules = imported(tests) | imported(answers) | {"builtins"}
    suspects = {"get_ipython", "In", "_ih", "__builtins__"} & names_in(answers)
    for node in ast.walk(answers):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            suspects |= {ast.unparse(node)} if ast.unparse(node).split(".")[0] in modules else set()
    fixed = names_in(tests) & (set(dir(builtins)) | imported(tests))
    for node in answers.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            suspects |= {node.name} & fixed
        else:
            suspects |= names_in(node, ast.Store) & fixed
    return [f"look at how it uses {', '.join(sorted(suspects))}"] if suspects else []


# ------------------------------------------------------------------ running one notebook


def end_leftovers(token):
    """End every process that inherited this run's environment."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("GRADING_RUN") == token:
                process.kill()
        except psutil.Error:
            continue


def run(notebook, settings):
    """Run a notebook in a process and a folder of its own; fill in its outputs; return notes."""
    token = uuid.uuid4().hex
    text = nbformat.writes(notebook)
    with (
        tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as log,
    ):
        keep = ("LANG", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {name: os.environ[name] for name in keep if name in os.environ}
        environment |= {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.defpath]),
            "PYTHONPATH": PYTHONPATH,
            "HOME": folder,
            "TMPDIR": folder,
            "MPLCONFIGDIR": folder,
            "GRADING_RUN": token,
        }
        for fonts in Path(matplotlib.get_cachedir()).glob("fontlist*.json"):
            shutil.copy(fonts, folder)  # making this list anew takes seconds
        child = subprocess.Popen(
            [sys.executable, str(BOUNDED), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        try:
            output, _ = child.communicate(text.encode(), settings["notebook_seconds"] + 30)
        except subprocess.TimeoutExpired:
            output = b""
        end_leftovers(token)
        child.kill()
        child.communicate()
        log.seek(0)
        lines = log.read(1_000_000).decode(errors="replace").splitlines()
    refused = sorted({line.removeprefix(NOTE) for line in lines if line.startswith(NOTE)})
    try:
        executed = nbformat.reads(output.decode(), as_version=4)
    except Exception:
        not_run(notebook, "the run broke off")
        return [*(f"refused: {what}" for what in refused), "the run broke off; nothing was graded"]
    for cell, done in zip(notebook.cells, executed.cells, strict=True):
        if cell.cell_type == "code":
            cell.outputs = done.outputs
    notes = [f"refused: {what}" for what in refused]
    if executed.metadata.disarmed:
        not_run(notebook, "the tests were disarmed: a check that must fail did not fail")
        notes.append("the tests were disarmed; nothing was graded")
    return notes


def not_run(notebook, reason):
    """Mark every code cell as not run (without an error nbgrader would give full points)."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [error("NotRun", f"Not run: {reason}.")]


def errors(cell):
    return [output for output in cell.get("outputs", []) if output.output_type == "error"]


def describe(notebook, settings):
    """Notes on how the run went, from the outputs."""
    kinds = collections.defaultdict(list)
    packages = set()
    for cell in notebook.cells:
        for output in errors(cell):
            kinds[output.ename].append(key(cell) if "nbgrader" in cell.metadata else "own cell")
            if output.ename == "ModuleNotFoundError":
                packages |= set(re.findall(r"No module named '([\w.]+)'", output.evalue))
        warned = any(output.get("name") == "stderr" for output in cell.get("outputs", []))
        if is_grade(cell) and warned and not errors(cell):
            kinds["stderr"].append(key(cell))
    texts = {
        "CellTimeoutError": f"ran longer than {settings['cell_seconds']} s and was stopped",
        "MemoryError": f"ran out of memory ({settings['memory_bytes'] / 1e9:g} GB)",
        "KernelDied": "ended the kernel",
        "SystemExit": "called exit",
        "TooMuchOutput": "stopped for too much output",
        "stderr": "printed a warning, which nbgrader counts as wrong",
    }
    notes = [f"{texts[kind]}: {', '.join(kinds[kind])}" for kind in texts if kind in kinds]
    if packages:
        notes.insert(0, f"package not installed here: {', '.join(sorted(packages))}")
    if "NotRun" in kinds and "KernelDied" not in kinds:
        notes.append("some cells did not run")
    return notes


# ------------------------------------------------------------------ nbgrader


def overwrite(notebook, assignment, config):
    """nbgrader's own step that puts back the locked cells, hidden tests included."""
    resources = {"nbgrader": {"notebook": assignment, "assignment": assignment}}
    resources["nbgrader"]["db_url"] = config.CourseDirectory.db_url
    return OverwriteCells(config=config).preprocess(notebook, resources)[0]


def convert(converter, config, assignment, student):
    config.CourseDirectory.assignment_id = assignment
    config.CourseDirectory.student_id = student
    instance = converter(coursedir=CourseDirectory(config=config), config=config)
    instance.force = True
    instance.start()


def record(course, config, student, assignment, notebook, notes):
    """Hand an executed notebook to nbgrader: the points into the gradebook, a feedback page."""
    if notes:
        text = "**Note from the grading**\n\n" + "\n".join(f"- {note}" for note in notes)
        notebook.cells.insert(0, new_markdown_cell(text))
    path = course / "submitted" / student / assignment / f"{assignment}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    config.Execute.enabled = config.ClearOutput.enabled = False  # it has been run
    convert(Autograde, config, assignment, student)


def points_of(gradebook, student, assignment):
    """{question: points, or BY_HAND}, {question: maximum} in the order of the notebook."""
    notebook = gradebook.find_submission_notebook(assignment, assignment, student)
    order = [cell.name for cell in gradebook.find_notebook(assignment, assignment).source_cells]
    grades = sorted(notebook.grades, key=lambda grade: order.index(grade.name))
    open_ = {g.name for g in grades if g.needs_manual_grade and g.manual_score is None}
    points = {g.name: BY_HAND if g.name in open_ else float(f"{g.score:g}") for g in grades}
    return points, {g.name: g.max_score for g in grades}


# ------------------------------------------------------------------ the whole run


def rehearse(folder, assignments, settings, workers):
    """Run the solutions first: if they lose points here, so would everyone, whoever is to blame."""

    def lost(name):
        notebook = nbformat.read(folder / "source" / name / f"{name}.ipynb", as_version=4)
        notes = run(notebook, settings) + describe(notebook, settings)
        graded = [cell for cell in notebook.cells if is_grade(cell) and not is_solution(cell)]
        missed = [cell for cell in graded if determine_grade(cell)[0] != determine_grade(cell)[1]]
        if not missed:
            return None
        first = [f"{o.ename}: {o.evalue}" for cell in missed for o in errors(cell)][:1]
        return f"{name}: {key(missed[0])} ({'; '.join([*notes, *first])})"

    with ThreadPoolExecutor(workers) as pool:
        problems = [problem for problem in pool.map(lost, assignments) if problem]
    if problems:
        raise Refused(
            "Nobody was graded: the model solutions themselves lose points on this machine.\n"
            + "\n".join(problems)
        )


def prepare(course, config, assignment, paths):
    """A submission ready to run, its notes, and whether to run it."""
    release = nbformat.read(course / "release" / assignment / f"{assignment}.ipynb", as_version=4)
    notes = [f"{len(paths)} files handed in; graded {paths[-1].name}"] if len(paths) > 1 else []
    try:
        submission = read(paths[-1])
    except ValueError as problem:
        notebook = repair(new_notebook(), release)[0]
        notebook = overwrite(notebook, assignment, config)
        not_run(notebook, str(problem))
        return notebook, [*notes, str(problem)], False
    notebook, changes = repair(submission, release)
    notes += changes + look_at(notebook)
    return overwrite(notebook, assignment, config), notes, True


def grade(submissions, course, folder, settings, workers, rehearsal=True):
    """Grade everything handed in; return {(student, assignment): status} and files left out."""
    found, other = find_submissions(submissions, names(folder))
    if not found:
        wanted = ", ".join(names(folder))
        raise Refused(f"No file in {submissions} has an assignment's name in its own: {wanted}.")
    course.mkdir(parents=True, exist_ok=True)
    generate(folder, course)
    shutil.copy(folder / "nbgrader_config.py", course)
    own = [Path(sys.prefix), Path(tempfile.gettempdir()), Path(__file__)]
    protected = [path.resolve() for path in (folder, course, submissions)]
    protected = [str(p) for p in protected if not any(o.resolve().is_relative_to(p) for o in own)]
    settings = settings | {"protected": protected}
    assignments = sorted({assignment for _, assignment in found})
    if rehearsal:
        print(f"Running {len(assignments)} model solution(s) first ...", flush=True)
        rehearse(folder, assignments, settings, workers)

    config, lock, status = configuration(folder, course), threading.Lock(), {}

    def one(item):
        (student, assignment), paths = item
        with lock:  # nbgrader's part: one at a time
            notebook, notes, to_run = prepare(course, config, assignment, paths)
        if to_run:
            notes += run(notebook, settings)
            notes += describe(notebook, settings)
        with lock:
            record(course, config, student, assignment, notebook, notes)
        return (student, assignment), "; ".join(notes) or "graded"

    with ThreadPoolExecutor(workers) as pool, tqdm(total=len(found), unit="notebook") as bar:
        for done, text in pool.map(lambda item: safely(one, item), found.items()):
            status[done] = text
            bar.update()
            if text != "graded":
                bar.write(f"{done[0]}, {done[1]}: {text}")
    return status, other


def safely(function, item):
    """One submission must never stop the others."""
    try:
        return function(item)
    except Exception as problem:
        return item[0], f"NOT GRADED, tell whoever looks after this: {problem!r}"


def write_report(course, folder, status, other):
    """Feedback pages, points.csv and summary.txt from the gradebook."""
    config = configuration(folder, course)
    rows, out_of, missed = [], {}, collections.defaultdict(list)
    with Gradebook(config.CourseDirectory.db_url, config.CourseDirectory.course_id) as gradebook:
        for (student, assignment), text in sorted(status.items()):
            try:
                points, most = points_of(gradebook, student, assignment)
            except MissingEntry:
                points, most = {}, {}
            scored = [value for value in points.values() if value != BY_HAND]
            open_ = sum(most[name] for name, value in points.items() if value == BY_HAND)
            total = f"{sum(scored):g}" + (f" + up to {open_:g} by hand" if open_ else "")
            row = {"student": student, "assignment": assignment, "status": text}
            row |= {"total": total if points else "", "out of": f"{sum(most.values()):g}"}
            for name, value in points.items():
                row[f"{assignment}: {name}"] = value if value == BY_HAND else f"{value:g}"
                out_of[f"{assignment}: {name}"] = most[name]
                missed[f"{assignment}: {name}"].append(value != BY_HAND and value < most[name])
            rows.append(row)
    for assignment in sorted({assignment for _, assignment in status}):
        try:
            convert(GenerateFeedback, config, assignment, "*")
        except NbGraderException:
            print(f"{assignment}: not every feedback page could be written.", file=sys.stderr)
    questions = sorted(out_of, key=lambda name: (name.partition(":")[0], list(out_of).index(name)))
    columns = ["student", "assignment", "status", "total", "out of", *questions]
    with (course / "points.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)
    summary = summarise(status, other, missed, course)
    (course / "summary.txt").write_text(summary, encoding="utf-8")
    print("\n" + summary)


def messages(path):
    """The first line of every error in a graded cell, of an answer that was attempted."""
    if not path.exists():
        return
    for cell in nbformat.read(path, as_version=4).cells:
        for output in errors(cell) if is_grade(cell) else []:
            if output.ename not in ("NotImplementedError", "NotRun"):
                line = f"{output.ename}: {output.evalue}".splitlines()[0]
                yield f"{key(cell)}: {line}"


def summarise(status, other, missed, course):
    lines = [f"{len(status)} submissions of {len({s for s, _ in status})} students."]
    odd = {who: text for who, text in status.items() if text != "graded"}
    lines += ["", f"To look at ({len(odd)}):"] if odd else []
    lines += [f"  {student}, {assignment}: {text}" for (student, assignment), text in odd.items()]
    lines += ["", f"Belongs to no assignment ({len(other)}):"] if other else []
    lines += [f"  {path}" for path in other]
    ranked = sorted(missed.items(), key=lambda item: -sum(item[1]) / len(item[1]))
    often = [
        f"  {sum(marks):3d} of {len(marks):3d}  {question}"
        for question, marks in ranked
        if any(marks)
    ]
    lines += ["", "Most often missed:", *(often[:10] or ["  nothing"])]
    said = collections.Counter(
        f"{assignment}: {text}"
        for student, assignment in status
        for text in messages(course / "autograded" / student / assignment / f"{assignment}.ipynb")
    )
    lines += ["", "What the tests said most often:"]
    lines += [f"  {n:3d} times  {text[:160]}" for text, n in said.most_common(10)] or ["  nothing"]
    lines += ["", f"Points: {course / 'points.csv'}", f"Feedback pages: {course / 'feedback'}", ""]
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("submissions", type=Path, nargs="?", help="folder with the notebooks")
    parser.add_argument("--out", type=Path, help="where the results go")
    parser.add_argument("--report", action="store_true", help="only write the results again")
    parser.add_argument("--assignments", type=Path, default=ASSIGNMENTS, help="the course folder")
    parser.add_argument("--cell-seconds", type=int, default=30)
    parser.add_argument("--notebook-seconds", type=int, default=120)
    parser.add_argument("--memory-gb", type=float, default=3)
    parser.add_argument("--output-mb", type=float, default=2, help="a cell")
    parser.add_argument("--at-once", type=int, default=2, help="notebooks run at a time")
    parser.add_argument("--no-rehearsal", action="store_true", help="skip the model solutions")
    options = parser.parse_args(arguments)
    if options.submissions is None:
        print("Say where the students' notebooks are: make grade SUBMISSIONS=dir", file=sys.stderr)
        return 2
    if not options.submissions.is_dir():
        print(f"There is no folder {options.submissions}.", file=sys.stderr)
        return 2
    submissions = options.submissions.resolve()
    course = (options.out or submissions.with_name(submissions.name + "-graded")).resolve()
    settings = {
        "cell_seconds": options.cell_seconds,
        "notebook_seconds": options.notebook_seconds,
        "memory_bytes": int(options.memory_gb * 1e9),
        "output_bytes": int(options.output_mb * 1e6),
    }
    saved = course / "status.json"
    try:
        if options.report:
            status, other = json.loads(saved.read_text())
            status = {(student, assignment): text for student, assignment, text in status}
        else:
            folder = options.assignments.resolve()
            workers, rehearsal = options.at_once, not options.no_rehearsal
            status, other = grade(submissions, course, folder, settings, workers, rehearsal)
            flat = [[*who, text] for who, text in status.items()]
            saved.write_text(json.dumps([flat, [str(path) for path in other]]))
    except Refused as reason:
        print(reason, file=sys.stderr)
        return 2
    except FileNotFoundError as missing:
        print(f"Nothing graded yet in {course}: {missing.filename} is missing.", file=sys.stderr)
        return 2
    write_report(course, options.assignments.resolve(), status, other)
    return 0


if __name__ == "__main__":
    sys.exit(main())
