"""Judge one submission: its code runs in sandboxes, the tests run here and ask for values.

Usage: python -m grading.judge < job.json > verdict.json (course.py does this). In a test,
`nearest(Y, y, K)` means the student's function. Here the name stands for a messenger, which sends
the arguments into the sandbox and brings back plain arrays and numbers. All comparing is done
here, with this process's own NumPy. So nothing that the student's code redefines, prints, forges
or hides makes a wrong value right. A question that forbids something has a sandbox of its own: the
cells run again there, and what's forbidden doesn't exist. So that a mistake costs points once, a
test that fails after an earlier one failed is repeated with the solution's earlier functions.
"""

import ast
import ctypes
import hashlib
import json
import os
import resource
import signal
import sys

import nbformat
from nbformat.v4 import new_output

from grading.messenger import Messenger, StudentError
from grading.run import Ended, Sandbox
from grading.sandbox import Limits

MOST_OUTPUTS, MOST_SHOWN = 100, 2_000_000  # outputs of a cell, and their characters
PR_SET_PDEATHSIG = KEYCTL_JOIN_SESSION_KEYRING = 1
KEYCTL = {"x86_64": 250, "aarch64": 219}  # the number of the call in the kernel
DEFINITIONS = (ast.FunctionDef, ast.Import, ast.ImportFrom)


def error(name, message):
    return new_output("error", ename=name, evalue=message, traceback=[f"{name}: {message}"])


def too_long(number, frame):
    raise StudentError("TookTooLong", "comparing takes too long")


def defined(source):
    """The names of the functions that a cell defines."""
    return {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def used(source):
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def definitions(source):
    """The part of a test cell that defines helpers and checks nothing."""
    body = [node for node in ast.parse(source).body if isinstance(node, DEFINITIONS)]
    return ast.unparse(ast.Module(body, []))


def number_of(student):
    """A number that is this student's own, for the data of the hidden tests."""
    return int(hashlib.sha256(student.encode()).hexdigest()[:8], 16)


class Room:
    """A sandbox in which the cells of a submission run in order, each when its turn comes."""

    def __init__(self, cells, limits, hidden, overlay):
        self.cells, self.sandbox = cells, Sandbox(limits, overlay, hidden)
        self.outputs, self.ended = [], None

    def up_to(self, position):
        """The outputs of a cell; those before it have run."""
        while len(self.outputs) <= position:
            cell = self.cells[len(self.outputs)]
            settings = cell.metadata.get("nbgrader", {})
            is_test = settings.get("grade") and not settings.get("solution")
            self.outputs.append(self.run(definitions(cell.source) if is_test else cell.source))
        return self.outputs[position]

    def run(self, code):
        """Run code where the student's lives; its outputs are shown, never believed."""
        if self.ended:
            return [error("NotRun", f"Not run: an earlier cell {self.ended}.")]
        try:
            return outputs_of(self.sandbox.ask({"run": code}, self.sandbox.limits.cell_seconds))
        except Ended as reason:
            self.ended = str(reason)
            return [error("Ended", f"This cell {reason}.")]

    def said(self):
        """The last error of a cell that ran here, for whoever misses a function."""
        errors = [o for outputs in self.outputs for o in outputs if o.output_type == "error"]
        return f"{errors[-1].ename}: {errors[-1].evalue}" if errors else "nothing"


class Judge:
    def __init__(self, job):
        self.job, self.limits = job, Limits(**job["limits"])
        self.submission = nbformat.reads(job["notebook"], as_version=4)
        self.code = [cell for cell in self.submission.cells if cell.cell_type == "code"]
        self.source = {
            cell.metadata.nbgrader.grade_id: cell
            for cell in nbformat.reads(job["source"], as_version=4).cells
            if "nbgrader" in cell.metadata and cell.cell_type == "code"
        }
        answers = [c.source for c in self.source.values() if c.metadata.nbgrader.solution]
        self.answers = set().union(*map(defined, answers))
        self.space, self.rooms = {"__name__": "judge"}, {}
        self.above, self.failed = {}, False  # the solution's answers so far; if any test failed

    def room(self, test=None, again=False):
        """The sandbox for a test: made when it is first needed. None of its own, the common one."""
        rows = self.job["rows"]
        number = next((n for n, row in enumerate(rows) if test in row["tests"]), None)
        if (number, again) not in self.rooms:
            overlay = [] if number is None else rows[number]["overlay"]
            self.rooms[number, again] = Room(self.code, self.limits, self.job["hidden"], overlay)
        return self.rooms[number, again]

    def run(self):
        """Fill in the outputs of the notebook; the answers in it run in sandboxes, in order."""
        for position, cell in enumerate(self.code):
            source = self.source.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            cell.outputs = self.room().up_to(position)
            if source is None:
                continue
            if source.metadata.nbgrader.solution:
                self.above[source.metadata.nbgrader.grade_id] = source.source
            elif source.metadata.nbgrader.grade:
                self.define(definitions(source.source))
                cell.outputs = self.test(source, position)
            elif not used(source.source) & self.answers:  # imports and data
                self.define(source.source)
                self.space["STUDENT"] = number_of(self.job["student"])

    def define(self, source):
        exec(compile(source, "<setup>", "exec"), self.space)

    def test(self, source, position):
        """The outputs of a test cell: none if it is passed, else the error."""
        name = source.metadata.nbgrader.grade_id
        room = self.room() if self.room().ended else self.room(name)
        said = self.tried(source, room, position)
        if said and self.failed and not room.ended:
            room = self.room(name, again=True)
            room.up_to(position)
            for answer in list(self.above.values())[:-1]:  # the last one is the student's to write
                room.run(answer)
            said = self.tried(source, room, position)
        self.failed |= bool(said)
        return said

    def tried(self, source, room, position):
        room.up_to(position)
        if room.ended:
            return [error("NotRun", f"Not run: an earlier cell {room.ended}.")]
        for name in self.answers:
            self.space[name] = Messenger(room.sandbox, name)
        try:  # what came back may be large: comparing has a bound too
            signal.setitimer(signal.ITIMER_PROF, 2 * self.limits.cell_seconds, 1)
            exec(compile(source.source, "<test>", "exec"), self.space)
        except Ended as reason:
            room.ended = str(reason)
            return [error("Ended", f"Your function {reason}.")]
        except Exception as problem:
            theirs = isinstance(problem, StudentError)
            name, message = problem.args if theirs else (type(problem).__name__, str(problem))
            if name == "NameError":  # its cell may have stopped before the function was there
                message += f" (the last error of a cell above: {room.said()})"
            return [error(name, message)]
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return []

    def close(self):
        for room in self.rooms.values():
            room.sandbox.close()


def outputs_of(reply):
    """What the sandbox says a cell has shown, as outputs of a notebook: text and pictures."""
    outputs, told = [], reply.get("outputs") if len(str(reply)) < MOST_SHOWN else None
    for output in told[:MOST_OUTPUTS] if isinstance(told, list) else ():
        if isinstance(output, dict) and output.get("text"):
            outputs.append(new_output("stream", name="stdout", text=str(output["text"])))
        elif isinstance(output, dict) and isinstance(output.get("data"), dict):
            data = {str(kind): str(form) for kind, form in output["data"].items()}
            outputs.append(new_output("display_data", data=data))
    said = reply.get("error")
    if isinstance(said, list) and len(said) == 2:
        outputs.append(error(str(said[0])[:100], str(said[1])[:5000]))
    return outputs


def main():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # with the grading its judges end
    # A keyring of its own: no sandbox reads the keys of the teacher's session, or leaves one there.
    ctypes.CDLL(None).syscall(KEYCTL.get(os.uname().machine, -1), KEYCTL_JOIN_SESSION_KEYRING, None)
    job = json.loads(sys.stdin.buffer.read())
    memory = Limits(**job["limits"]).memory_bytes + 1_000_000_000
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.signal(signal.SIGPROF, too_long)
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    judge = Judge(job)
    try:
        judge.run()
    finally:
        judge.close()
    cells = [cell.get("outputs") for cell in judge.submission.cells]
    channel.write(json.dumps({"outputs": cells, "ended": judge.room().ended}))
    channel.close()


if __name__ == "__main__":
    main()
