"""Grade a folder of students' notebooks: points, feedback pages, a summary.

Usage: python course/grade.py SUBMISSIONS [options]

Any file whose name holds the name of an assignment counts, in the layouts
  SUBMISSIONS/<student>/a1-neighbours.ipynb         (also one folder deeper, as nbgrader collects)
  SUBMISSIONS/<student>_a1-neighbours.ipynb
The results go to a folder beside (SUBMISSIONS-graded), which is an nbgrader course folder.
book/grading.md tells how to use it; course/grading does the work.
"""

import argparse
import json
import sys
from pathlib import Path

from grading import report
from grading.course import Grading
from grading.sandbox import Refused
from make_assignments import ASSIGNMENTS


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("submissions", type=Path, nargs="?", help="folder with the notebooks")
    add("--out", type=Path, help="where the results go")
    add("--report", action="store_true", help="only write the results again")
    add("--no-rehearsal", action="store_true", help="skip the model solutions")
    add("--cell-seconds", type=float, default=30, help="of computing, and of waiting")
    add("--notebook-seconds", type=float, default=180, help="of computing")
    add("--assignments", type=Path, default=ASSIGNMENTS, help="the course folder")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    if options.submissions is None or not options.submissions.is_dir():
        said = "There is no such folder: make grade SUBMISSIONS=dir takes the students' notebooks."
        print(said, file=sys.stderr)
        return 2
    grading = Grading(options)
    file = grading.course / "status.json"
    saved = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    try:
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
