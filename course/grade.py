"""Grade a folder of students' notebooks: points, feedback pages and a summary.

A file counts if its name contains the name of an assignment. The student is the first folder, or
what comes before the assignment:
  SUBMISSIONS/ann/a1-neighbours.ipynb       (deeper folders are fine)
  SUBMISSIONS/ann_a1-neighbours.ipynb
The results are written to SUBMISSIONS-graded, beside the folder. Read summary.txt there first.

Students' code runs in a sandbox that can't touch your files. This takes Linux with bubblewrap. The
model solutions run first: if they lose points on your machine, nobody is graded.
book/grading.md explains the rest.
"""

import json
import sys
from argparse import ArgumentParser, RawTextHelpFormatter
from pathlib import Path

from grading import report
from grading.course import Grading
from grading.sandbox import Refused
from make_assignments import ASSIGNMENTS


def parse(arguments):
    parser = ArgumentParser(description=__doc__, formatter_class=RawTextHelpFormatter)
    add = parser.add_argument
    add("submissions", type=Path, help="the folder with the students' notebooks")
    add("--out", type=Path, help="another folder for the results")
    add("--report", action="store_true", help="write table and pages again, and run nothing")
    add("--no-rehearsal", action="store_true", help="don't run the model solutions first")
    add("--cell-seconds", type=float, default=30, help="CPU time of a cell, or waiting (30)")
    add("--notebook-seconds", type=float, default=180, help="CPU time of a notebook (180)")
    add("--assignments", type=Path, default=ASSIGNMENTS, help="another set of assignments")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    grading = Grading(options)
    file = grading.course / "status.json"
    saved = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    try:
        if not grading.submissions.is_dir():
            raise Refused("There is no such folder: make grade takes SUBMISSIONS=dir.")
        if options.report and not saved:
            raise Refused(f"Nothing was graded yet: there is no {file}.")
        state = saved if options.report else grading.grade()
    except Refused as reason:
        print(reason, file=sys.stderr)
        return 2
    file.write_text(json.dumps(state), encoding="utf-8")
    print("\n" + report.write_report(grading.course, grading.config, state))
    return 0


if __name__ == "__main__":
    sys.exit(main())
