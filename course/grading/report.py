"""Write what the teacher gets: points.csv, summary.txt and a page for each student."""

import csv
import html

from grading.clean import one_line
from grading.gradebook import BY_HAND, graded_notebook, open_gradebook, points_of
from grading.repair import key

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<title>{title}</title>
<style>body {{ max-width: 50em; margin: 2em auto; font-family: sans-serif }}
pre {{ white-space: pre-wrap; background: #f4f4f4; padding: 0.6em }}</style></head>
<body><h1>{title}</h1><p>{total} of {most} points. {status}</p>
{parts}</body></html>
"""


FINE = ("graded", "text in a cell below", "changed since")  # the last two wait as paragraphs


def total_of(points):
    """The total as text: what is certain, and what a person still has to give."""
    scored = sum(score for score, _, _ in points.values() if score != BY_HAND)
    waiting = sum(most for score, most, _ in points.values() if score == BY_HAND)
    return f"{scored:g}" + (f" + up to {waiting:g} by hand" if waiting else "")


def page(row, points, cells):
    """The student's page: points, what the tests said, answers as typed. It holds text alone."""
    parts = []
    for cell in cells:
        name, locked = key(cell), cell.metadata.get("nbgrader", {}).get("locked")
        texts = [] if locked else [cell.source]
        if cell.cell_type == "markdown" and locked and cell.source.startswith("## "):
            parts.append(f"<h2>{html.escape(cell.source[3:].splitlines()[0])}</h2>")
        if name in points:
            score, most, comment = points[name]
            score = "not yet graded" if score == BY_HAND else f"{score:g}"
            parts.append(f"<h3>{html.escape(name)}: {score} of {most:g}</h3>")
            said = [f"{output.ename}: {output.evalue}" for output in errors(cell)]
            texts += [*said, cell.source if said and locked else "", comment]
        parts += [f"<pre>{html.escape(text)}</pre>" for text in texts if text]
    shown = row | {"title": f"{row['student']}, {row['assignment']}", "most": row["out of"]}
    shown = {name: html.escape(text) for name, text in shown.items()}
    return PAGE.format(**shown, parts="\n".join(parts))


def errors(cell):
    return [output for output in cell.get("outputs", []) if output.output_type == "error"]


def write_report(course, config, state):
    """Everything from the gradebook and from what the last grading noted."""
    entries = sorted(state["entries"], key=lambda entry: (entry["assignment"], entry["student"]))
    rows, columns = [], ["student", "assignment", "file", "status", "total", "out of"]
    for entry in entries:
        student, name = entry["student"], entry["assignment"]
        with open_gradebook(config) as gradebook:
            points = points_of(gradebook, student, name)
        most = sum(most for _, most, _ in points.values())
        scores = {f"{name}: {q}": s if s == BY_HAND else f"{s:g}" for q, (s, *_) in points.items()}
        rows.append(entry | {"total": total_of(points), "out of": f"{most:g}"} | scores)
        columns += [question for question in scores if question not in columns]
        cells = graded_notebook(course, student, name) if points else []
        path = course / "feedback" / student / name / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(rows[-1], points, cells), encoding="utf-8")
    with (course / "points.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, restval="")
        table.writeheader()
        table.writerows(rows)
    summary = summarise(course, state, rows)
    (course / "summary.txt").write_text(summary, encoding="utf-8")
    return summary


def summarise(course, state, rows):
    """The page to read first."""
    lines = [f"{len(rows)} submissions of {len({row['student'] for row in rows})} students."]
    waiting = sum(list(row.values()).count(BY_HAND) for row in rows)
    lines += [f"Paragraphs to grade by hand: {waiting}."] if waiting else []
    odd = [row for row in rows if not row["status"].startswith(FINE)]
    parts = {"To look at": [f"{e['student']}, {e['assignment']}: {e['status']}" for e in odd]}
    parts["Belongs to no assignment"] = map(one_line, state["other"])
    for title, found in parts.items():
        texts = [f"  {text}" for text in found]
        lines += ["", f"{title} ({len(texts)}):", *texts] if texts else []
    lines += ["", f"Points: {course / 'points.csv'}", f"Feedback pages: {course / 'feedback'}", ""]
    return "\n".join(lines)
