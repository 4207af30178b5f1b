"""Judge one submission: its code runs in a sandbox, the tests run here and ask it for values.

Usage: python -m grading.judge < job.json > verdict.json (course.py does this). In a test,
`nearest(Y, y, K)` means the student's function; here the name stands for a messenger that sends
the arguments into the sandbox and brings back plain arrays and numbers. All comparing is done
here, with this process's own NumPy, so nothing that the student's code redefines, prints, forges
or hides makes a wrong value right.
"""

import ast
import collections
import hashlib
import json
import os
import resource
import signal
import sys
import threading
import time

import nbformat
from nbformat.v4 import new_output

from grading.messenger import Messenger, StudentError
from grading.rules import broken_rule, unchanging
from grading.run import Ended, NoSandbox, Sandbox
from grading.sandbox import Limits

MOST_OUTPUTS = 1000  # of a cell


def error(name, message, traceback=None):
    lines = traceback or [f"{name}: {message}"]
    return new_output("error", ename=name, evalue=message, traceback=lines)


def too_long(number, frame):
    raise StudentError("TookTooLong: comparing takes too long")


def defined(source):
    """The names that a cell defines at its top level."""
    names = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            targets = (n for target in node.targets for n in ast.walk(target))
            names |= {n.id for n in targets if isinstance(n, ast.Name)}
    return names


def used(source):
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def number_of(student):
    """A number that is this student's own, for the data of the hidden tests."""
    return int(hashlib.sha256(student.encode()).hexdigest()[:8], 16)


class Judge:
    def __init__(self, job):
        limits = Limits(**job["limits"])
        self.submission = nbformat.reads(job["notebook"], as_version=4)
        self.source = {
            cell.metadata.nbgrader.grade_id: cell
            for cell in nbformat.reads(job["source"], as_version=4).cells
            if "nbgrader" in cell.metadata and cell.cell_type == "code"
        }
        self.number = number_of(job["student"])
        self.answers = set()
        for cell in self.source.values():
            if cell.metadata.nbgrader.solution:
                self.answers |= defined(cell.source)
        self.sandbox = Sandbox(job["sandbox"], limits, job["hidden"], job["name"])
        self.space = {"__name__": "judge"}
        self.ended, self.odd = None, collections.defaultdict(list)
        self.room = 10 * limits.output_bytes  # for what all cells show

    def run(self):
        """Fill in the outputs of the notebook; the answers in it run in the sandbox, in order."""
        code = [cell for cell in self.submission.cells if cell.cell_type == "code"]
        for position, cell in enumerate(code):
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            alive = not self.ended
            cell.outputs = self.in_sandbox(cell)
            source = self.source.get(name)
            if source is None or source.metadata.nbgrader.solution:
                continue
            if source.metadata.nbgrader.grade:
                if alive and self.ended:
                    continue
                seen = set()
                cell.outputs = self.test(source.source, code[:position], seen)
                for what in sorted(seen) if cell.outputs else ():
                    self.odd[what].append(name)
            else:
                self.prepare(source.source)
        self.sandbox.close()

    def in_sandbox(self, cell):
        """Run a cell where the student's code lives; its outputs are shown, never believed."""
        if self.ended:
            return [error("NotRun", f"Not run: an earlier cell {self.ended}.")]
        try:
            reply = self.sandbox.ask({"run": cell.source}, self.sandbox.limits.cell_seconds)
        except Ended as reason:
            self.ended = str(reason)
            return [error("Ended", f"This cell {reason}.")]
        outputs = outputs_of(reply)
        self.room -= sum(len(str(output)) for output in outputs)
        if self.room < 0:
            self.ended = "showed too much"
            self.sandbox.close()
            return [error("Ended", "This cell and those before it showed too much.")]
        return outputs

    def prepare(self, source):
        """Run a locked cell here too, if it needs no answer: imports, data, helpers of tests."""
        if not used(source) & self.answers:
            exec(compile(source, "<setup>", "exec"), self.space)
            if "STUDENT" in self.space:
                self.space["STUDENT"] = self.number

    def define(self, source):
        """Make the helpers of a test known, which later tests may use, whatever becomes of it."""
        kept = (ast.FunctionDef, ast.Import, ast.ImportFrom)
        body = [node for node in ast.parse(source).body if isinstance(node, kept)]
        exec(compile(ast.Module(body, []), "<helpers>", "exec"), self.space)

    def test(self, source, before, seen):
        """The outputs of a test cell: none if it is passed, else the error."""
        self.define(source)
        rule = broken_rule(source, before)
        if rule:
            return [error("AssertionError", rule)]
        if self.ended:
            return [error("NotRun", f"Not run: an earlier cell {self.ended}.")]
        fixed = unchanging(source)
        for name in self.answers:
            self.space[name] = Messenger(self.sandbox, name, seen, name not in fixed)
        try:  # what came back may be large: comparing has a bound too
            signal.setitimer(signal.ITIMER_PROF, 2 * self.sandbox.limits.cell_seconds, 1)
            exec(compile(source, "<test>", "exec"), self.space)
        except Ended as reason:
            self.ended = str(reason)
            return [error("Ended", f"Your function {reason}.")]
        except Exception as problem:
            name = type(problem).__name__
            if name == "StudentError":
                name, _, message = str(problem).partition(": ")
                return [error(name, message)]
            return [error(name, str(problem))]
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return []


def outputs_of(reply):
    """What the sandbox says a cell has shown, as outputs of a notebook: text and pictures."""
    outputs, told = [], reply.get("outputs")
    for output in told[:MOST_OUTPUTS] if isinstance(told, list) else ():
        try:
            kind = output["output_type"]
            if kind == "stream":
                name = "stderr" if output["name"] == "stderr" else "stdout"
                outputs.append(new_output("stream", name=name, text=str(output["text"])))
            elif kind == "error":
                lines = [str(line) for line in output["traceback"]]
                outputs.append(error(str(output["ename"]), str(output["evalue"]), lines))
            else:
                data = {str(k): str(v) for k, v in output["data"].items()}
                outputs.append(new_output("display_data", data=data))
        except (KeyError, TypeError, AttributeError):
            continue
    said = reply.get("error")
    if said and not any(output.output_type == "error" for output in outputs):
        outputs.append(error(str(said), "the cell was stopped"))
    return outputs


def end_with(parent, sandbox):
    """Leave as soon as nobody waits for the verdict: a grading that was killed cannot say so."""
    while os.getppid() == parent:
        time.sleep(0.5)
    sandbox.close()
    os._exit(1)


def main():
    job = json.loads(sys.stdin.buffer.read())
    memory = Limits(**job["limits"]).memory_bytes + 1_000_000_000
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.signal(signal.SIGPROF, too_long)
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    judge = Judge(job)
    threading.Thread(target=end_with, args=(job["parent"], judge.sandbox), daemon=True).start()
    try:
        judge.sandbox.greet()  # before any code of the student's
        judge.run()
    except NoSandbox as problem:
        sys.exit(str(problem))
    finally:
        judge.sandbox.close()
    cells = [cell.get("outputs") for cell in judge.submission.cells]
    channel.write(json.dumps({"outputs": cells, "ended": judge.ended, "odd": judge.odd}))
    channel.close()


if __name__ == "__main__":
    main()
