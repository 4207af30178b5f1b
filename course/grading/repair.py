"""The answers of a submission in a clean copy of the student version."""

from collections import defaultdict

from nbformat.v4 import new_code_cell, new_markdown_cell
from nbgrader.utils import is_grade, is_locked, is_solution

from grading.clean import AS_TYPED, clean_attachments, clean_text


def key(cell):
    """The name of a cell: its grade_id, or the id that the student version gave it."""
    nbgrader = cell.metadata.get("nbgrader")
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return name if isinstance(name, str) else cell.get("id")


def own_cell(cell):
    """A cell that the student added: its text or code and the pictures in it, nothing else."""
    if cell.cell_type == "code":
        return new_code_cell(cell.source)
    return with_text(new_markdown_cell(), cell.source, cell.get("attachments"))


def with_text(cell, text, attachments):
    pictures = clean_attachments(attachments)
    cell.source = clean_text(text, pictures)
    if pictures:
        cell.attachments = pictures
    return cell


def as_text(cell):
    """What stands in an added cell, as Markdown."""
    return cell.source if cell.cell_type == "markdown" else f"```\n{cell.source}\n```"


def gather(answer, added, beside):
    """Put text from new cells, and the names of files handed in, where the teacher will look."""
    found = [cell for cell in added if cell.source.strip()]
    parts = [answer.source, *(as_text(cell) for cell in found)]
    if beside:
        parts.append("Handed in beside the notebook: " + ", ".join(f"`{name}`" for name in beside))
    pictures = dict(answer.get("attachments", {}))
    for cell in found:
        pictures |= cell.get("attachments", {})
    if len(parts) > 1:
        answer.source = clean_text("\n\n".join(parts), pictures)
    if pictures:
        answer.attachments = pictures
    return found or beside


def repair(submission, release, beside=()):
    """The submission in the order and with the locked cells of the student version, and notes.

    Answers and the student's own cells stay; nothing else of the submission is believed, neither
    metadata nor outputs. The tests run from the source, in another process.
    """
    known = {key(cell): cell for cell in release.cells}
    owned = {name for name, cell in known.items() if "nbgrader" in cell.metadata}
    theirs, doubled = {}, set()
    for position, cell in enumerate(submission.cells):
        if key(cell) in known:
            doubled |= {key(cell)} & theirs.keys() & owned
            theirs[key(cell)] = position  # the last one counts, as with nbgrader
    own, anchor = defaultdict(list), None
    for position, cell in enumerate(submission.cells):
        if theirs.get(key(cell)) == position:
            anchor = key(cell)
        else:
            own[anchor].append(own_cell(cell))
    changed, untouched = [], []
    for name, cell in known.items():
        if name not in theirs:
            continue
        their = submission.cells[theirs[name]]
        if is_locked(cell):
            changed += [name] if their.source.strip() != cell.source.strip() else []
        elif cell.cell_type == "markdown":
            untouched += [name] if their.source.strip() in (cell.source.strip(), "") else []
            with_text(cell, their.source, their.get("attachments"))
        else:
            cell.source = their.source
    elsewhere = gather_all(known, own, untouched, theirs, beside)
    cells = list(own[None])
    for name, cell in known.items():
        cells += [cell, *own[name]] if name in theirs or name in owned else own[name]
    release.cells = cells

    missing = [name for name in known if name in owned and name not in theirs]
    notes = []
    if not owned & theirs.keys():
        notes.append("none of the assignment's cells are in it")
    elif missing:
        notes.append(f"deleted cells put back: {', '.join(missing)}")
    if changed:
        notes.append(f"changed locked cells restored: {', '.join(changed)}")
    if doubled:
        notes.append(f"cells in it twice, the last counts: {', '.join(sorted(doubled))}")
    typed = [c for c in cells if c.cell_type == "markdown" and c.source.startswith(AS_TYPED)]
    if typed:
        where = dict.fromkeys(key(c) if "nbgrader" in c.metadata else "own cell" for c in typed)
        notes.append(f"text shown as it was typed: {', '.join(where)}")
    if elsewhere:
        notes.append(f"text found elsewhere than in its cell: {', '.join(elsewhere)}")
    if sorted(theirs, key=theirs.get) != [name for name in known if name in theirs]:
        notes.append("cells reordered; put back in order")
    return release, notes


def gather_all(known, own, untouched, theirs, beside):
    """For each paragraph left empty, what the student wrote in new cells around it."""
    order, found = list(known), []
    for name, cell in known.items():
        by_hand = is_grade(cell) and is_solution(cell) and cell.cell_type == "markdown"
        if not by_hand or (name in theirs and name not in untouched):
            continue
        before = order[order.index(name) - 1]
        if gather(cell, [*own[before], *own[name]], beside):
            found.append(name)
    return found
