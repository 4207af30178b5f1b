"""Grade a folder of students' notebooks: points, feedback pages, a summary.

Usage: python course/grade.py SUBMISSIONS [options]

Any file whose name holds the name of an assignment counts, in the layouts
  SUBMISSIONS/<student>/a1-neighbours.ipynb         (also one folder deeper, as nbgrader collects)
  SUBMISSIONS/<student>_a1-neighbours.ipynb
and as Moodle and Canvas name them. The results go to a folder beside (SUBMISSIONS-graded), which
is an nbgrader course folder. book/grading.md tells how to use it; course/grading does the work.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

from grading import report
from grading.course import Grading, Refused
from grading.roster import NoRoster, read_roster
from make_assignments import ASSIGNMENTS


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
    add(
        "--roster",
        action="append",
        type=Path,
        help="list of students, or a table of Canvas's or "
        "Moodle's; once for each of Moodle's worksheets",
    )
    add("--student", help="grade this student only")
    add("--question", help="change the points of this question only, for instance test-eta")
    add("--due", action="append", metavar="NAME=TIME", help="a1-neighbours=2026-11-20T23:59")
    add("--points-a-day", type=float, help="lost for each day begun after the deadline")
    add("--grace-hours", type=float, help="late by no more costs nothing")
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


def remembered(options, before):
    """Roster, deadlines and penalty as given now, else as they were given the last time."""
    due = {name: when.isoformat(timespec="minutes") for name, when in options.due.items()}
    given = {
        "rosters": [read_roster(path) for path in options.roster or []],
        "due": before.get("due", {}) | due,
        "points_a_day": options.points_a_day,
        "grace_hours": options.grace_hours,
    }
    given["rosters"] = given["rosters"] or before.get("rosters", [])
    for name in ("points_a_day", "grace_hours"):
        given[name] = before.get(name, 0) if given[name] is None else given[name]
    return given


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
        grading = Grading(options)
        file = grading.course / "status.json"
        saved = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        given = remembered(options, saved.get("given", {}))
        if options.report and not saved:
            raise Refused(f"Nothing was graded yet: there is no {file}.")
        if options.report and (options.due or options.points_a_day or options.grace_hours):
            raise Refused("A deadline changes points only in a grading; leave REPORT=1 out.")
        state = saved if options.report else grading.grade(given)
        if options.student and saved and not options.report:
            state = merged(state, saved)
        state["given"] = given
        file.write_text(json.dumps(state), encoding="utf-8")
    except (Refused, NoRoster) as reason:
        print(reason, file=sys.stderr)
        return 2
    print("\n" + report.write_report(grading.course, grading.config, state))
    return 0


if __name__ == "__main__":
    sys.exit(main())
