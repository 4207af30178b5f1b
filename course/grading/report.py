"""What the teacher gets: points.csv, summary.txt and a page for each student."""

import collections
import csv
import html
import re

import nbformat
from nbgrader.utils import is_grade

from grading.clean import one_line
from grading.gradebook import BY_HAND, graded_notebook, open_gradebook, points_of
from grading.repair import key

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<title>{title}</title>
<style>body {{ max-width: 50em; margin: 2em auto; font-family: sans-serif }}
pre {{ white-space: pre-wrap; background: #f4f4f4; padding: 0.6em }}</style></head>
<body><h1>{title}</h1><p>{total} of {most:g} points. {status}</p>
{parts}</body></html>
"""


def total_of(points):
    """The total as text: what is certain, and what a person still has to give."""
    scored = sum(score for score, _, _ in points.values() if score != BY_HAND)
    waiting = sum(most for score, most, _ in points.values() if score == BY_HAND)
    return f"{scored:g}" + (f" + up to {waiting:g} by hand" if waiting else "")


def titles_of(source):
    """{graded cell: "Question 2: The neighbour search"} from the headings of an assignment."""
    titles, heading = {}, ""
    for cell in source.cells:
        found = re.search(r"^## (.*?)(?: \([^()]*points?[^()]*\))?$", cell.source, re.M)
        if cell.cell_type == "markdown" and found:
            heading = found[1]
        if is_grade(cell):
            titles[key(cell)] = f"{heading} ({key(cell)})"
    return titles


def page(entry, points, cells, titles):
    """The student's page: points, what the tests said, answers as typed. It holds text alone."""
    parts = []
    for cell in cells:
        name = key(cell)
        if name in points:
            score, most, comment = points[name]
            score = "not yet graded" if score == BY_HAND else f"{score:g}"
            parts.append(f"<h2>{html.escape(titles.get(name, name))}: {score} of {most:g}</h2>")
            said = [f"{o.ename}: {o.evalue}" for o in errors(cell)]
            texts = [*said, comment, cell.source if not said or cell.cell_type != "code" else ""]
        else:
            texts = [cell.source] if not cell.metadata.get("nbgrader", {}).get("locked") else []
        parts += [f"<pre>{html.escape(text)}</pre>" for text in texts if text]
    shown = {"title": f"{entry['student']}, {entry['assignment']}", "status": entry["status"]}
    shown = {name: html.escape(text) for name, text in shown.items()}
    most = sum(most for _, most, _ in points.values())
    return PAGE.format(**shown, total=total_of(points), most=most, parts="\n".join(parts))


def errors(cell):
    return [output for output in cell.get("outputs", []) if output.output_type == "error"]


def messages(cells):
    """What the tests said to an answer that was attempted."""
    for cell in cells:
        for output in errors(cell) if is_grade(cell) else []:
            if output.ename not in ("NotImplementedError", "NotRun"):
                yield f"{key(cell)}: " + one_line(f"{output.ename}: {output.evalue}")


def write_report(course, config, state):
    """Everything from the gradebook and from what the last grading noted."""
    entries = sorted(state["entries"], key=lambda entry: (entry["student"], entry["assignment"]))
    rows, missed, said = [], collections.defaultdict(list), collections.Counter()
    for entry in entries:
        student, name = entry["student"], entry["assignment"]
        with open_gradebook(config) as gradebook:
            points = points_of(gradebook, student, name)
        row = {"student": in_table(student), "assignment": name, "status": entry["status"]}
        row |= {"total": total_of(points) if points else ""}
        row |= {"out of": f"{sum(most for _, most, _ in points.values()):g}"}
        for question, (score, most, _) in points.items():
            row[f"{name}: {question}"] = score if score == BY_HAND else f"{score:g}"
            missed[f"{name}: {question}"].append(score != BY_HAND and score < most)
        rows.append(row)
        cells = graded_notebook(course, student, name) if points else []
        said.update(f"{name}: {text}" for text in messages(cells))
        path = course / "feedback" / student / name / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        source = nbformat.read(course / "source" / name / f"{name}.ipynb", as_version=4)
        path.write_text(page(entry, points, cells, titles_of(source)), encoding="utf-8")
    write_points(course / "points.csv", rows, missed)
    summary = summarise(course, state, entries, missed, said)
    (course / "summary.txt").write_text(summary, encoding="utf-8")
    return summary


def in_table(text):
    """A name for a table: nothing that a spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def write_points(path, rows, questions):
    columns = ["student", "assignment", "status", "total", "out of", *sorted_by_name(questions)]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, restval="")
        table.writeheader()
        table.writerows(rows)


def sorted_by_name(questions):
    return sorted(questions, key=lambda name: name.partition(":")[0])  # the rest stays in order


def summarise(course, state, entries, missed, said):
    """The page to read first."""
    lines = [f"{len(entries)} submissions of {len({e['student'] for e in entries})} students."]
    odd = [entry for entry in entries if entry["status"] != "graded"]
    lines += ["", f"To look at ({len(odd)}):"] if odd else []
    lines += [f"  {e['student']}, {e['assignment']}: {e['status']}" for e in odd]
    lines += ["", f"Belongs to no assignment ({len(state['other'])}):"] if state["other"] else []
    lines += [f"  {one_line(path)}" for path in state["other"]]
    ranked = sorted(missed.items(), key=lambda item: -sum(item[1]) / len(item[1]))
    often = [f"  {sum(m):3d} of {len(m):3d}  {question}" for question, m in ranked if any(m)]
    lines += ["", "Most often missed:", *(often[:10] or ["  nothing"])]
    lines += ["", "What the tests said most often:"]
    lines += [f"  {n:3d} times  {text[:160]}" for text, n in said.most_common(10)] or ["  nothing"]
    lines += ["", f"Points: {course / 'points.csv'}", f"Feedback pages: {course / 'feedback'}", ""]
    return "\n".join(lines)
