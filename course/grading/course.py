"""One run of the grading: from the files handed in to the points in the gradebook."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from make_assignments import configuration, generate, names
from nbformat.v4 import new_notebook

from grading import collect, gradebook
from grading.absent import make_overlay, read_table
from grading.clean import clean_outputs, one_line
from grading.repair import key, not_run, repair
from grading.report import errors
from grading.sandbox import Limits, Refused, check_sandbox

PATHS = {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)), "PYTHONUTF8": "1"}
STOPPED = ("TookTooLong", "MemoryError", "SystemExit", "Ended", "ModuleNotFoundError")


def judged(job):
    """The verdict of a judge: a process that has seen nothing of other submissions."""
    command, env = [sys.executable, "-m", "grading.judge"], os.environ | PATHS
    given = {"input": json.dumps(job).encode(), "cwd": tempfile.gettempdir(), "env": env}
    done = subprocess.run(command, **given, capture_output=True)
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["silently"]
        raise RuntimeError(f"the judge stopped: {one_line(lines[-1])}")
    return json.loads(done.stdout)


def describe(notebook, ended):
    """A note on the cells that were stopped, and why."""
    found = [(cell, o) for cell in notebook.cells for o in errors(cell) if o.ename in STOPPED]
    said = [f"{key(cell)} ({o.ename}: {one_line(o.evalue)})" for cell, o in found]
    notes = [f"stopped: {', '.join(said)}"] if said else []
    return notes + (["nothing after it ran"] if ended else [])


class Grading:
    """One run: where things lie, what is allowed, and how a submission gets its points."""

    def __init__(self, options):
        self.options = options
        self.submissions = options.submissions.resolve()
        out = options.out or self.submissions.with_name(self.submissions.name + "-graded")
        self.course, self.folder = out.resolve(), options.assignments.resolve()
        self.limits = Limits(options.cell_seconds, options.notebook_seconds)
        self.config = configuration(self.folder, self.course)
        self.lock, self.tables = threading.Lock(), {}

    def source(self, assignment):
        return self.folder / "source" / assignment / f"{assignment}.ipynb"

    def judge(self, notebook, assignment, student):
        """Run a notebook and its tests, each in a process of its own; return what ended it."""
        source = self.source(assignment).read_text(encoding="utf-8")
        job = {"notebook": nbformat.writes(notebook), "source": source, "student": student}
        job |= {"limits": vars(self.limits), "rows": self.tables[assignment]}
        hidden = [str(folder) for folder in (self.folder, self.submissions, self.course)]
        verdict = judged(job | {"hidden": hidden})
        for cell, outputs in zip(notebook.cells, verdict["outputs"], strict=True):
            if cell.cell_type == "code":
                cell.outputs = clean_outputs(nbformat.from_dict(outputs))
        return verdict["ended"]

    def lost(self, assignment):
        """What the tests say to the model solution on this machine; nothing if all is well."""
        notebook = nbformat.read(self.source(assignment), as_version=4)
        try:
            self.judge(notebook, assignment, "rehearsal")
        except RuntimeError as problem:
            return [f"{assignment}: {problem}"]
        found = [(key(cell), output) for cell in notebook.cells for output in errors(cell)]
        return [f"{assignment}: {name}: {o.ename}: {o.evalue}" for name, o in found]

    def rehearse(self, assignments):
        """Run the solutions first: if they lose points here, so would everyone."""
        with ThreadPoolExecutor(2) as pool:
            problems = [line for lines in pool.map(self.lost, assignments) for line in lines]
        if problems:
            said = "Nobody was graded: the model solutions themselves lose points on this machine."
            raise Refused("\n".join([said, *problems]))

    def one(self, submission):
        """Grade one submission; return its status."""
        name, notes = submission.assignment, []
        release = nbformat.read(self.course / "release" / name / f"{name}.ipynb", as_version=4)
        if len(submission.files) > 1:
            files = ", ".join(str(p.relative_to(self.submissions)) for p in submission.files)
            notes = [f"several files, the last one counts: {files}"]
        try:
            handed_in = collect.read(submission.path)
        except ValueError as problem:
            notebook = repair(new_notebook(), release)[0]
            not_run(notebook, str(problem))
            notes = [f"not a notebook: {problem}"]
        else:
            notebook, changes = repair(handed_in, release)
            notes += [*changes, *describe(notebook, self.judge(notebook, name, submission.student))]
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
        who = {"student": submission.student, "assignment": submission.assignment}
        file = one_line(submission.path.relative_to(self.submissions.parent))
        return who | {"status": status, "file": file}

    def grade(self):
        """Grade everything handed in; return the state that the report is written from."""
        found, other = collect.find(self.submissions, names(self.folder))
        if not found:
            said = f"No file in {self.submissions} has an assignment's name in its own"
            raise Refused(f"{said}: {', '.join(names(self.folder))}.")
        if inner := collect.whole_class(self.submissions, found):
            raise Refused(f"`{inner}` holds several students' folders: grade {inner} alone.")
        check_sandbox()
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
