"""What the teacher gets: points.csv, summary.txt, feedback pages, tables for Canvas and Moodle."""

import collections
import datetime

import nbformat
from nbgrader.utils import is_grade

from grading.clean import one_line
from grading.gradebook import BY_HAND, open_gradebook, points_of, write_feedback
from grading.pages import name_questions, offline, titles_of
from grading.repair import key
from grading.roster import entry_of, export, of_assignment, write_csv

NOTHING = "nothing handed in"


def in_table(text):
    """A name for a table: one line, and nothing a spreadsheet takes for a formula."""
    text = one_line(text)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def total_of(points, most, penalty):
    """The total as text: what is certain, and what a person still has to give."""
    scored = sum(value for value in points.values() if value != BY_HAND)
    waiting = sum(most[name] for name, value in points.items() if value == BY_HAND)
    total = f"{max(scored - penalty, 0):g}"
    return total + (f" + up to {waiting:g} by hand" if waiting else "")


def rows_of(config, entries, rosters):
    """One row for each student and assignment, and {question: [lost points?]}."""
    rows, missed = [], collections.defaultdict(list)
    with open_gradebook(config) as gradebook:
        for entry in entries:
            student, assignment = entry["student"], entry["assignment"]
            points, most, penalty = points_of(gradebook, student, assignment)
            row = {"student": student, "assignment": assignment, "status": entry["status"]}
            row["total"] = total_of(points, most, penalty) if points else ""
            row |= {"out of": f"{sum(most.values()):g}", "late": f"{-penalty:g}" if penalty else ""}
            roster = of_assignment(assignment, entries, rosters)
            person = entry_of(student, entry["lms_id"], roster) or {}
            row |= {"name": in_table(person.get("name", "")), "lms id": entry["lms_id"]}
            for name, value in points.items():
                row[f"{assignment}: {name}"] = value if value == BY_HAND else f"{value:g}"
                missed[f"{assignment}: {name}"].append(value != BY_HAND and value < most[name])
            rows.append(row)
    return rows, missed


def missing_rows(entries, rosters):
    """Whoever is on the roster and handed in nothing, for each assignment that others did."""
    found = []
    for assignment in sorted({entry["assignment"] for entry in entries}):
        here = [entry for entry in entries if entry["assignment"] == assignment]
        roster = of_assignment(assignment, entries, rosters)
        present = [id(entry_of(e["student"], e["lms_id"], roster)) for e in here]
        for person in roster:
            name = person["student"] or person["name"] or person["lms_id"]
            if name and id(person) not in present:
                row = {"student": in_table(name), "assignment": assignment, "status": NOTHING}
                row |= {"total": "0", "name": in_table(person["name"])}
                found.append(row | {"lms id": person["lms_id"]})
    return found


def write_report(course, config, state):
    """Everything from the gradebook and from what the last grading noted."""
    entries = sorted(state["entries"], key=lambda entry: (entry["student"], entry["assignment"]))
    rosters = state["given"]["rosters"]
    rows, missed = rows_of(config, entries, rosters)
    absent = missing_rows(entries, rosters)
    rows += absent
    columns = ["student", "name", "lms id", "assignment", "status", "total", "out of", "late"]
    columns += sorted(missed, key=lambda name: (name.partition(":")[0], list(missed).index(name)))
    write_csv(course / "points.csv", columns, rows)
    for assignment in sorted({entry["assignment"] for entry in entries}):
        complete = write_feedback(config, assignment)
        finish_pages(course, assignment, rows)
        if not complete:
            print(f"{assignment}: not every feedback page could be written.")
    tables = export(course, rows, entries, rosters)
    summary = summarise(course, state, entries, missed, absent)
    summary = "\n".join([summary, *tables, ""])
    (course / "summary.txt").write_text(summary, encoding="utf-8")
    return summary


def finish_pages(course, assignment, rows):
    """Make nbgrader's pages readable without a network, and name the questions."""
    source = course / "source" / assignment / f"{assignment}.ipynb"
    titles = titles_of(nbformat.read(source, as_version=4))
    for row in rows:
        path = course / "feedback" / row["student"] / assignment / f"{assignment}.html"
        if row["assignment"] == assignment and path.exists():
            waiting = [n for n in titles if row.get(f"{assignment}: {n}") == BY_HAND]
            page = name_questions(path.read_text(encoding="utf-8"), titles, waiting)
            path.write_text(offline(page), encoding="utf-8")


def messages(folder, assignment):
    """The first line of every error in a graded cell, of an answer that was attempted."""
    path = folder / assignment / f"{assignment}.ipynb"
    if not path.exists():
        return
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []) if is_grade(cell) else []:
            unanswered = output.get("ename") in ("NotImplementedError", "NotRun")
            if output.output_type == "error" and not unanswered:
                yield f"{key(cell)}: " + one_line(f"{output.ename}: {output.evalue}")


def policy(rosters, due, points_a_day, grace_hours):
    """What holds for everyone, as it was given now or in an earlier run."""
    lines = [f"Roster: {', '.join(str(named(roster)) for roster in rosters)} students."]
    dates = ", ".join(f"{name} {when.replace('T', ' ')}" for name, when in sorted(due.items()))
    cost = f"{points_a_day:g} points a day, {grace_hours:g} hours of grace"
    return (lines if rosters else []) + ([f"Deadlines: {dates}; {cost}."] if due else [])


def named(roster):
    return sum(bool(person["student"] or person["name"]) for person in roster)


def summarise(course, state, entries, missed, absent):
    """The page to read first."""
    lines = [f"{len(entries)} submissions of {len({e['student'] for e in entries})} students."]
    lines += policy(**state["given"])
    if state["sandbox"] == "none":
        lines.append("Graded WITHOUT a sandbox: this code could read and change your files.")
    odd = [entry for entry in entries if entry["status"] != "graded"]
    lines += ["", f"To look at ({len(odd)}):"] if odd else []
    lines += [f"  {e['student']}, {e['assignment']}: {e['status']}" for e in odd]
    lines += ["", f"Nothing handed in ({len(absent)}):"] if absent else []
    lines += [f"  {row['student']}, {row['assignment']}" for row in absent]
    lines += ["", f"Belongs to no assignment ({len(state['other'])}):"] if state["other"] else []
    lines += [f"  {one_line(path)}" for path in state["other"]]
    ranked = sorted(missed.items(), key=lambda item: -sum(item[1]) / len(item[1]))
    often = [
        f"  {sum(marks):3d} of {len(marks):3d}  {question}"
        for question, marks in ranked
        if any(marks)
    ]
    lines += ["", "Most often missed:", *(often[:10] or ["  nothing"])]
    said = collections.Counter(
        f"{entry['assignment']}: {text}"
        for entry in entries
        for text in messages(course / "autograded" / entry["student"], entry["assignment"])
    )
    lines += ["", "What the tests said most often:"]
    lines += [f"  {n:3d} times  {text[:160]}" for text, n in said.most_common(10)] or ["  nothing"]
    if state["alike"]:
        lines += ["", "Answers that are much alike (a hint; read them before you say anything):"]
        lines += [f"  {share:.0%}  {a}, {b}: {name}" for share, a, b, name in state["alike"][:10]]
    lines += ["", f"Points: {course / 'points.csv'}", f"Feedback pages: {course / 'feedback'}"]
    return "\n".join(lines)


def penalty_for(submission, given):
    """Points lost for being late: for each day begun after the deadline and the grace."""
    due, points_a_day = given["due"].get(submission.assignment), given["points_a_day"]
    if due is None or points_a_day <= 0:
        return 0.0
    late = submission.when - datetime.datetime.fromisoformat(due)
    if late <= datetime.timedelta(hours=given["grace_hours"]):
        return 0.0
    return points_a_day * -(-late // datetime.timedelta(days=1))
