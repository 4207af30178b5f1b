"""One run of the grading: from the files handed in to the points in the gradebook."""

import dataclasses
import itertools
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
from nbgrader.utils import determine_grade, is_grade, is_solution
from tqdm import tqdm

from grading import collect, gradebook, report, similar
from grading.clean import clean_outputs, one_line
from grading.notes import describe, not_run
from grading.repair import key, repair
from grading.rules import student_code, suspicious
from grading.sandbox import Limits, choose, end_container

TOOLS = Path(__file__).resolve().parent.parent
PATHS = [str(TOOLS), *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
PATHS = [os.path.abspath(path) for path in PATHS]  # a judge works in another folder
NO_SANDBOX = """There is no sandbox on this machine, so nobody was graded. Install bubblewrap
(apt-get install bubblewrap, dnf install bubblewrap), or build the image of the Containerfile with
podman or docker (podman build -t slnp-grading .). With --no-sandbox the students' code can read,
change and send away every file of yours."""


class Refused(Exception):
    """The grading cannot go on; the message says why."""


def judged(job):
    """The verdict of a judge: a process that has seen nothing of other submissions."""
    with tempfile.TemporaryDirectory(prefix="judge-", ignore_cleanup_errors=True) as folder:
        done = subprocess.run(
            [sys.executable, "-m", "grading.judge"],
            input=json.dumps(job | {"parent": os.getpid(), "name": Path(folder).name}).encode(),
            capture_output=True,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(PATHS), "PYTHONUTF8": "1"},
        )
    if done.returncode != 0:
        end_container(job["sandbox"], Path(folder).name)  # if the judge was killed, it lives on
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError("the judge stopped: " + one_line(lines[-1] if lines else "silently"))
    return json.loads(done.stdout)


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
            output_bytes=int(options.output_mb * 1e6),
            idle_seconds=options.idle_seconds,
        )
        self.sandbox = "none" if options.no_sandbox else choose()
        self.config = configuration(self.folder, self.course)
        self.lock = threading.Lock()  # nbgrader's part: one at a time

    def source(self, assignment):
        return self.folder / "source" / assignment / f"{assignment}.ipynb"

    def judge(self, notebook, assignment, student):
        """Run a notebook and its tests, each in a process of its own; return the verdict."""
        job = {
            "notebook": nbformat.writes(notebook),
            "source": self.source(assignment).read_text(encoding="utf-8"),
            "student": student,
            "limits": dataclasses.asdict(self.limits),
            "sandbox": self.sandbox,
            "hidden": [str(p) for p in (self.folder, self.submissions, self.course)],
        }
        verdict = judged(job)
        for cell, outputs in zip(notebook.cells, verdict["outputs"], strict=True):
            if cell.cell_type == "code":
                cell.outputs = clean_outputs(nbformat.from_dict(outputs))
        return verdict

    def rehearse(self, assignments):
        """Run the solutions first: if they lose points here, so would everyone."""

        def lost(name):
            notebook = nbformat.read(self.source(name), as_version=4)
            try:
                verdict = self.judge(notebook, name, "rehearsal")
            except RuntimeError as problem:
                return f"{name}: {problem}"
            graded = [cell for cell in notebook.cells if is_grade(cell) and not is_solution(cell)]
            scores = {key(cell): determine_grade(cell) for cell in graded}
            missed = [cell for cell in graded if len({*scores[key(cell)]}) > 1]
            if not missed:
                return None
            notes = describe(notebook, verdict, self.limits)
            said = [f"{o.ename}: {o.evalue}" for c in missed for o in c.outputs][:1]
            return f"{name}: {key(missed[0])} ({'; '.join([*notes, *said])})"

        with ThreadPoolExecutor(self.options.at_once) as pool:
            problems = [problem for problem in pool.map(lost, assignments) if problem]
        if problems:
            said = "Nobody was graded: the model solutions themselves lose points on this machine."
            raise Refused("\n".join([said, *problems]))

    def prepare(self, submission):
        """A clean copy with the student's answers, its notes, and why it cannot be run, if so."""
        name = submission.assignment
        path = self.course / "release" / name / f"{name}.ipynb"
        release, notes = nbformat.read(path, as_version=4), submission.notes()
        try:
            handed_in = collect.read(submission.path)
        except ValueError as problem:
            notebook = repair(new_notebook(), release)[0]
            not_run(notebook, str(problem))
            return notebook, [*notes, str(problem)], str(problem)
        beside = [one_line(path.name).replace("`", "") for path in submission.beside]
        notebook, changes = repair(handed_in, release, beside)
        hints = suspicious(notebook.cells)
        hints = [f"look at how it uses {', '.join(hints)}"] if hints else []
        return notebook, [*notes, *changes, *hints], None

    def one(self, submission, given):
        """Grade one submission; return its entry for the report."""
        with self.lock:
            notebook, notes, problem = self.prepare(submission)
        if not problem:
            verdict = self.judge(notebook, submission.assignment, submission.student)
            notes += describe(notebook, verdict, self.limits)
        penalty = report.penalty_for(submission, given)
        if penalty:
            notes.append(f"late, {penalty:g} points off")
        elif submission.late:
            notes.append("late by Canvas's mark, no points off")
        with self.lock:
            again = gradebook.record(
                self.course, self.config, submission, notebook, notes, self.options.question
            )
            gradebook.set_penalty(self.config, submission, penalty)
        if again:
            notes.append(f"changed since it was graded by hand: {', '.join(again)}")
        status = one_line("; ".join(notes)) if notes else "graded"
        return entry(submission, status), student_code(notebook.cells)

    def check_options(self, given, assignments):
        """Refuse what would change nothing: names that nothing has, a penalty without a date."""
        known = names(self.folder)
        for name in given["due"]:
            if name not in known:
                raise Refused(f"No assignment is called {name}: {', '.join(known)}.")
        if given["points_a_day"] and not given["due"]:
            raise Refused(f"--points-a-day needs a deadline: --due {known[0]}=2026-11-20T23:59.")
        question, found = self.options.question, []
        for name in assignments:
            cells = nbformat.read(self.source(name), as_version=4).cells
            found += [key(cell) for cell in cells if is_grade(cell)]
        if question and question not in found:
            where = f"in {', '.join(assignments)}"
            raise Refused(f"No question {where} is called {question}; they are {', '.join(found)}.")

    def grade(self, given):
        """Grade everything handed in; return the state that the report is written from."""
        found, other = collect.find(self.submissions, names(self.folder))
        wanted = self.options.student
        same = collect.same_form(collect.identifier(wanted or ""))
        found = [s for s in found if not wanted or collect.same_form(s.student) == same]
        if not found:
            listed = ", ".join(names(self.folder))
            whose = f" of {wanted}" if wanted else ""
            said = f"No file{whose} in {self.submissions} has an assignment's name in its own"
            raise Refused(f"{said}: {listed}.")
        assignments = sorted({submission.assignment for submission in found})
        self.check_options(given, assignments)
        if self.sandbox is None:
            raise Refused(NO_SANDBOX)
        self.course.mkdir(parents=True, exist_ok=True)
        generate(self.folder, self.course)
        shutil.copy(self.folder / "nbgrader_config.json", self.course)
        if not self.options.no_rehearsal:
            print(f"Running {len(assignments)} model solution(s) first ...", flush=True)
            self.rehearse(assignments)
        state = {"entries": [], "other": [str(path) for path in other], "sandbox": self.sandbox}
        code = {}
        with ThreadPoolExecutor(self.options.at_once) as pool, tqdm(total=len(found)) as bar:
            graded = pool.map(self.safely, found, itertools.repeat(given))
            for submission, (done, cells) in zip(found, graded, strict=True):
                state["entries"].append(done)
                code[submission.student, submission.assignment] = cells
                bar.update()
                if done["status"] != "graded":
                    bar.write(f"{done['student']}, {done['assignment']}: {done['status']}")
        state["alike"] = similar.alike(code)
        return state

    def safely(self, submission, given):
        """One submission must never stop the others."""
        try:
            return self.one(submission, given)
        except Exception as problem:
            said = one_line(repr(problem))
            return entry(submission, f"NOT GRADED, tell whoever looks after this: {said}"), []


def entry(submission, status):
    wanted = ("student", "assignment", "lms_id")
    return {name: getattr(submission, name) for name in wanted} | {"status": status}
