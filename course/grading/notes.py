"""What the teacher is told about a run, from its outputs."""

import collections
import re

from nbformat.v4 import new_output

from grading.repair import key

TEXTS = {
    "TookTooLong": "computed longer than {cell_seconds:g} s and was stopped",
    "MemoryError": "ran out of memory ({memory_gb:g} GB)",
    "SystemExit": "called exit",
    "TooMuchOutput": "stopped for too much output",
    "NotPlain": "gave something other than numbers and arrays",
}


def errors(cell):
    return [output for output in cell.get("outputs", []) if output.output_type == "error"]


def not_run(notebook, reason):
    """Mark every code cell as not run (without an error nbgrader would give full points)."""
    message = f"Not run: {reason}."
    for cell in notebook.cells:
        if cell.cell_type == "code":
            told = new_output("error", ename="NotRun", evalue=message, traceback=[message])
            cell.outputs = [told]


def describe(notebook, verdict, limits):
    """Notes on how the run went, from the outputs and from what the judge saw besides."""
    ended = verdict["ended"]
    kinds = collections.defaultdict(list)
    packages = set()
    for cell in notebook.cells:
        for output in errors(cell):
            kinds[output.ename].append(key(cell) if "nbgrader" in cell.metadata else "own cell")
            if output.ename == "ModuleNotFoundError":
                packages |= set(re.findall(r"No module named '([\w.]+)'", output.evalue))
    values = {"cell_seconds": limits.cell_seconds, "memory_gb": limits.memory_bytes / 1e9}
    notes = [
        f"{text.format(**values)}: {', '.join(dict.fromkeys(kinds[kind]))}"
        for kind, text in TEXTS.items()
        if kind in kinds
    ]
    notes += [f"{what}: {', '.join(tests)}" for what, tests in verdict["odd"].items()]
    if packages:
        notes.insert(0, f"package not installed here: {', '.join(sorted(packages))}")
    if ended:
        notes.append(f"{ended}: {', '.join(kinds['Ended'])}; nothing after it ran")
    return notes
