"""Who is in the course: a list of students, or a table of Canvas or Moodle and its way back."""

import csv
import re
from pathlib import Path

from grading.clean import one_line
from grading.collect import identifier, same_form

ADDED = ("name", "lms_id", "student")  # to each row of a roster


class NoRoster(Exception):
    """A table of students that cannot be read; the message says why."""


def read_roster(path):
    """Rows of a list of students: one's own, Canvas's gradebook, or Moodle's grading worksheet.

    Each row is the file's own, with "student" (as in the names of the files), "lms_id" and "name"
    added.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise NoRoster(f"{path} is not stored as UTF-8; save it as such.") from None
    except OSError as problem:
        raise NoRoster(f"The roster {path} cannot be read: {problem.strerror}.") from None
    first = text.partition("\n")[0]
    comma = max(",;\t", key=first.count)  # a spreadsheet may write semicolons
    rows = list(csv.DictReader(text.splitlines(keepends=True), delimiter=comma))
    if not {"student", "name", "Student", "Full name"} & {*(rows[0] if rows else ())}:
        raise NoRoster(f"{path} has no column called student or name: {one_line(first)}")
    for row in rows:
        row.pop(None, None)  # more fields than columns
        name = row.get("name") or row.get("Student") or row.get("Full name") or ""
        row["name"] = "" if "Points Possible" in name else name.strip()  # a row of Canvas's own
        digits = re.sub(r"\D", "", row.get("ID") or row.get("Identifier") or "")
        row["lms_id"] = row.get("lms_id") or digits
        row.setdefault("student", "")
    return rows


def entry_of(student, lms_id, roster):
    """The row of the roster that is this student's, or None: by number, else by name."""
    for row in roster:
        if lms_id and row["lms_id"] == lms_id:
            return row
    for row in roster:
        for name in (row["student"], row["name"]):
            if name and same_form(identifier(name)) == same_form(student):
                return row
    return None


def knows(roster, entries):
    """Whether a roster has the number of one of these submissions, or none of them has one."""
    numbers = {entry["lms_id"] for entry in entries} - {""}
    return not numbers or bool(numbers & {row["lms_id"] for row in roster})


def of_assignment(assignment, entries, rosters):
    """The roster that knows the numbers in an assignment: Moodle's differ from one to the next."""
    here = [entry for entry in entries if entry["assignment"] == assignment]
    fitting = [roster for roster in rosters if knows(roster, here)]
    return (fitting or rosters or [[]])[0]


def write_csv(path, columns, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def grades_in(roster, rows, assignment):
    """{position in the roster: what is certain of the total}."""
    found = {}
    for row in rows:
        person = entry_of(row["student"], row["lms id"], roster)
        if row["assignment"] == assignment and person is not None:
            found[roster.index(person)] = row["total"].partition(" ")[0]
    return found


def export(course, rows, entries, rosters):
    """The rosters again, with grades, as Canvas or Moodle handed them out; what to say of it."""
    said, assignments = [], sorted({row["assignment"] for row in rows})
    for roster in rosters:
        columns = [column for column in roster[0] if column not in ADDED]
        if "SIS Login ID" in columns or "Student" in columns:
            said.append(f"For Canvas: {canvas_table(course, columns, roster, rows, assignments)}")
    for assignment in assignments:
        here = [entry for entry in entries if entry["assignment"] == assignment]
        roster = of_assignment(assignment, entries, rosters)
        if not roster or "Identifier" not in roster[0]:
            continue
        path = course / f"moodle-{assignment}.csv"
        if not knows(roster, here):  # grades of others would stand in it
            path.unlink(missing_ok=True)
            said.append(
                f"Nothing for Moodle on {assignment}: its worksheet is not among those given."
            )
            continue
        grades = grades_in(roster, rows, assignment)
        table = [row | {"Grade": grades.get(n, "")} for n, row in enumerate(roster)]
        columns = [column for column in roster[0] if column not in ADDED]
        said.append(f"For Moodle: {write_csv(path, columns, table)}")
    return said


def canvas_table(course, columns, roster, rows, assignments):
    kept = [c for c in columns if c in ("Student", "ID", "Section") or c.startswith("SIS ")]
    named = {a: next((c for c in columns if c.startswith(a)), a) for a in assignments}
    table = [dict(row) for row in roster]
    for assignment, column in named.items():
        for position, grade in grades_in(roster, rows, assignment).items():
            table[position][column] = grade or table[position].get(column, "")
    return write_csv(course / "canvas.csv", [*kept, *named.values()], table)
