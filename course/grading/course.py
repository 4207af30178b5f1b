"""One run of the grading: from the files handed in to the points in the gradebook."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from make_assignments import configuration, generate, names
from nbformat.v4 import new_notebook
from nbgrader.utils import determine_grade, is_grade, is_solution

from grading import collect, gradebook
from grading.absent import make_overlay, read_table
from grading.clean import clean_outputs, one_line
from grading.repair import key, not_run, repair
from grading.report import errors
from grading.sandbox import Limits, NoSandbox, check_sandbox

TOOLS = Path(__file__).resolve().parent.parent
PATHS = [str(TOOLS), *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
PATHS = [os.path.abspath(path) for path in PATHS]  # a judge works in another folder
STOPPED = ("TookTooLong", "MemoryError", "SystemExit", "Ended", "ModuleNotFoundError")


class Refused(Exception):
    """The grading cannot go on; the message says why."""


def judged(job):
    """The verdict of a judge: a process that has seen nothing of other submissions."""
    with tempfile.TemporaryDirectory(prefix="judge-", ignore_cleanup_errors=True) as folder:
        done = subprocess.run(
            [sys.executable, "-m", "grading.judge"],
            input=json.dumps(job).encode(),
            capture_output=True,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(PATHS), "PYTHONUTF8": "1"},
        )
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError("the judge stopped: " + one_line(lines[-1] if lines else "silently"))
    return json.loads(done.stdout)


def describe(notebook, ended):
    """A note on the cells that were stopped, and why."""
    stopped = defaultdict(list)
    for cell in notebook.cells:
        for output in errors(cell):
            if output.ename in STOPPED:
                name = key(cell) if "nbgrader" in cell.metadata else "a cell of their own"
                stopped[f"{output.ename}: {one_line(output.evalue)}"].append(name)
    notes = [f"stopped: {', '.join(cells)} ({why})" for why, cells in stopped.items()]
    return notes + (["nothing after it ran"] if ended else [])


class Grading:
    """One run: where things lie, what is allowed, and how a submission gets its points."""

    def __init__(self, options):
        self.options = options
        self.submissions = options.submissions.resolve()
        out = options.out or self.submissions.with_name(self.submissions.name + "-graded")
        self.course, self.folder = out.resolve(), options.assignments.resolve()
        self.limits = Limits(
            cell_seconds=options.cell_seconds,
            notebook_seconds=options.notebook_seconds,
            memory_bytes=int(options.memory_gb * 1e9),
        )
        self.config = configuration(self.folder, self.course)
        self.lock, self.tables = threading.Lock(), {}

    def source(self, assignment):
        return self.folder / "source" / assignment / f"{assignment}.ipynb"

    def judge(self, notebook, assignment, student):
        """Run a notebook and its tests, each in a process of its own; return what ended it."""
        job = {
            "notebook": nbformat.writes(notebook),
            "source": self.source(assignment).read_text(encoding="utf-8"),
            "student": student,
            "limits": vars(self.limits),
            "rows": self.tables[assignment],
            "hidden": [str(p) for p in (self.folder, self.submissions, self.course)],
        }
        verdict = judged(job)
        for cell, outputs in zip(notebook.cells, verdict["outputs"], strict=True):
            if cell.cell_type == "code":
                cell.outputs = clean_outputs(nbformat.from_dict(outputs))
        return verdict["ended"]

    def lost(self, assignment):
        """Why a model solution loses points on this machine, if it does."""
        notebook = nbformat.read(self.source(assignment), as_version=4)
        try:
            ended = self.judge(notebook, assignment, "rehearsal")
        except RuntimeError as problem:
            return f"{assignment}: {problem}"
        graded = [cell for cell in notebook.cells if is_grade(cell) and not is_solution(cell)]
        missed = [cell for cell in graded if len({*determine_grade(cell)}) > 1]
        said = [f"{o.ename}: {o.evalue}" for cell in missed for o in errors(cell)][:1]
        notes = "; ".join([*describe(notebook, ended), *said])
        return f"{assignment}: {key(missed[0])} ({notes})" if missed else None

    def rehearse(self, assignments):
        """Run the solutions first: if they lose points here, so would everyone."""
        with ThreadPoolExecutor(2) as pool:
            problems = [problem for problem in pool.map(self.lost, assignments) if problem]
        if problems:
            said = "Nobody was graded: the model solutions themselves lose points on this machine."
            raise Refused("\n".join([said, *problems]))

    def one(self, submission):
        """Grade one submission; return its status."""
        name, notes = submission.assignment, []
        path = self.course / "release" / name / f"{name}.ipynb"
        release = nbformat.read(path, as_version=4)
        if len(submission.files) > 1:
            files = ", ".join(path.name for path in submission.files)
            notes = [f"several files, the last one counts: {files}"]
        try:
            notebook, changes = repair(collect.read(submission.path), release)
            ended = self.judge(notebook, name, submission.student)
            notes += [*changes, *describe(notebook, ended)]
        except ValueError as problem:
            notebook = repair(new_notebook(), release)[0]
            not_run(notebook, str(problem))
            notes.append(f"not a notebook: {problem}")
        notes = [one_line(note) for note in notes]
        with self.lock:  # nbgrader's part: one at a time
            notes += gradebook.record(self.course, self.config, submission, notebook, notes)
        return "; ".join(notes) or "graded"

    def safely(self, submission):
        """One submission must never stop the others."""
        try:
            status = self.one(submission)
        except Exception as problem:
            status = f"NOT GRADED: {one_line(repr(problem))}"
        print(f"{submission.student}, {submission.assignment}: {status}", flush=True)
        return {
            "student": submission.student,
            "assignment": submission.assignment,
            "status": status,
        }

    def grade(self):
        """Grade everything handed in; return the state that the report is written from."""
        found, other = collect.find(self.submissions, names(self.folder))
        wanted = self.options.student
        found = [s for s in found if not wanted or s.student == wanted]
        if not found:
            whose = f" of {wanted}" if wanted else ""
            said = f"No file{whose} in {self.submissions} has an assignment's name in its own"
            raise Refused(f"{said}: {', '.join(names(self.folder))}.")
        try:
            check_sandbox()
        except NoSandbox as reason:
            raise Refused(str(reason)) from reason
        self.course.mkdir(parents=True, exist_ok=True)
        generate(self.folder, self.course)
        shutil.copy(self.folder / "nbgrader_config.json", self.course)
        assignments = sorted({submission.assignment for submission in found})
        with tempfile.TemporaryDirectory(prefix="absent-") as folder:
            for name in assignments:
                rows = read_table(self.folder / "source" / name / "absent.toml")
                for number, row in enumerate(rows):
                    row["overlay"] = make_overlay(row, Path(folder, name, str(number)))
                self.tables[name] = rows
            if not self.options.no_rehearsal:
                print(f"Running {len(assignments)} model solution(s) first ...", flush=True)
                self.rehearse(assignments)
            with ThreadPoolExecutor(2) as pool:
                entries = list(pool.map(self.safely, found))
        return {"entries": entries, "other": [str(path) for path in other]}
