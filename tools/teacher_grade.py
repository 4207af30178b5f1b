"""Grade a folder of students' notebooks: points, feedback pages, a summary.

Usage: python tools/teacher_grade.py SUBMISSIONS [options]

Any file whose name holds the name of an assignment counts, in the layouts
  SUBMISSIONS/<student>/a1-neighbours.ipynb         (also one folder deeper, as nbgrader collects)
  SUBMISSIONS/<student>_a1-neighbours.ipynb
and as Moodle and Canvas name them. The results go to a folder beside (SUBMISSIONS-graded), which
is an nbgrader course folder. book/grading.md tells how to use it; tools/grading does the work.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

from author_assignments import ASSIGNMENTS
from grading import collect, report
from grading.course import Grading, Refused


def due_dates(texts):
    """{assignment: deadline} from a1-neighbours=2026-11-20T23:59."""
    pairs = (text.partition("=") for text in texts or [])
    return {name: datetime.datetime.fromisoformat(when) for name, _, when in pairs}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("submissions", type=Path, nargs="?", help="folder with the notebooks")
    add("--out", type=Path, help="where the results go")
    add("--report", action="store_true", help="only write the results again")
    add("--roster", type=Path, help="list of students, or the table Canvas or Moodle exports")
    add("--student", help="grade this student only")
    add("--question", help="change the points of this question only, for instance test-eta")
    add("--due", action="append", metavar="NAME=TIME", help="a1-neighbours=2026-11-20T23:59")
    add("--points-a-day", type=float, default=0, help="lost for each day begun after the deadline")
    add("--grace-hours", type=float, default=0, help="late by no more costs nothing")
    add("--no-sandbox", action="store_true", help="let students' code reach all your files")
    add("--no-rehearsal", action="store_true", help="skip the model solutions")
    add("--at-once", type=int, default=2, help="notebooks run at a time")
    add("--cell-seconds", type=float, default=30, help="of computing")
    add("--notebook-seconds", type=float, default=180, help="of computing")
    add("--idle-seconds", type=float, default=30, help="of waiting, with nothing computed")
    add("--memory-gb", type=float, default=3)
    add("--output-mb", type=float, default=2, help="a cell")
    add("--assignments", type=Path, default=ASSIGNMENTS, help="the course folder")
    options = parser.parse_args(arguments)
    try:
        options.due = due_dates(options.due)
    except ValueError:
        parser.error("--due wants a name and a time, such as a1-neighbours=2026-11-20T23:59")
    return options


def merged(state, saved):
    """With one student graded again, the others stay as they were."""
    new = {(e["student"], e["assignment"]) for e in state["entries"]}
    kept = [e for e in saved["entries"] if (e["student"], e["assignment"]) not in new]
    alike = [pair for pair in saved["alike"] if not {(pair[1], pair[3]), (pair[2], pair[3])} & new]
    return state | {"entries": kept + state["entries"], "alike": alike + state["alike"]}


def main(arguments=None):
    options = parse(arguments)
    if options.submissions is None:
        print("Say where the students' notebooks are: make grade SUBMISSIONS=dir", file=sys.stderr)
        return 2
    if not options.submissions.is_dir():
        print(f"There is no folder {options.submissions}.", file=sys.stderr)
        return 2
    try:
        roster = collect.read_roster(options.roster) if options.roster else []
        grading = Grading(options)
        saved = grading.course / "status.json"
        if options.report:
            state = json.loads(saved.read_text(encoding="utf-8"))
        else:
            state = grading.grade()
            if options.student and saved.exists():
                state = merged(state, json.loads(saved.read_text(encoding="utf-8")))
            saved.write_text(json.dumps(state), encoding="utf-8")
    except (Refused, collect.NoRoster) as reason:
        print(reason, file=sys.stderr)
        return 2
    except FileNotFoundError as missing:
        print(f"{missing.filename} is missing; was anything graded yet?", file=sys.stderr)
        return 2
    print("\n" + report.write_report(grading.course, grading.config, state, roster))
    return 0


if __name__ == "__main__":
    sys.exit(main())
