"""Put the answers of a submission into a clean copy of the student version.

So whatever a student did to a test, a locked cell or the metadata is gone before anything runs.
"""

from collections import defaultdict

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.utils import is_grade, is_locked, is_solution

from grading.clean import clean_attachments, clean_text


def key(cell):
    """The name of a cell: its grade_id, or the id that the student version gave it."""
    nbgrader = cell.metadata.get("nbgrader")
    name = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return name if isinstance(name, str) else cell.get("id")


def is_paragraph(cell):
    return cell.cell_type == "markdown" and is_grade(cell) and is_solution(cell)


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


def places(submission, known):
    """{name: position} of the cells that are handed out, and the student's own after each."""
    theirs, own, anchor = {}, defaultdict(list), None
    for position, cell in enumerate(submission.cells):
        if key(cell) in known:
            theirs[key(cell)] = position  # the last one counts, as with nbgrader
    for position, cell in enumerate(submission.cells):
        if theirs.get(key(cell)) == position:
            anchor = key(cell)
        else:
            own[anchor].append(own_cell(cell))
    return theirs, own


def repair(submission, release):
    """The submission in the order and with the locked cells of the student version, and notes.

    Answers and the student's own cells stay; nothing else of the submission is believed, neither
    metadata nor outputs. The tests run from the source, in another process.
    """
    known = {key(cell): cell for cell in release.cells}
    theirs, own = places(submission, known)
    mended = [name for name, cell in known.items() if name not in theirs and is_locked(cell)]
    elsewhere = []
    for name, position in theirs.items():
        cell, their = known[name], submission.cells[position]
        if is_locked(cell):
            mended += [name] if their.source.strip() != cell.source.strip() else []
        elif not is_paragraph(cell):
            cell.source = their.source
        elif their.source.strip() not in (cell.source.strip(), ""):
            with_text(cell, their.source, their.get("attachments"))
        elif gather(cell, own[name]):
            elsewhere.append(name)
    if sorted(theirs, key=theirs.get) != [name for name in known if name in theirs]:
        mended.append("their order")
    release.cells = own[None] + [c for name in known for c in (known[name], *own[name])]
    notes = [f"cells put back: {', '.join(mended)}"] if mended else []
    notes += [f"text in a cell below, read as the answer: {', '.join(elsewhere)}"] * bool(elsewhere)
    return release, notes


def gather(answer, added):
    """Move text from new cells below an empty paragraph into it, where the teacher will look."""
    found = [cell for cell in added if cell.cell_type == "markdown" and cell.source.strip()]
    pictures = {k: p for cell in found for k, p in cell.get("attachments", {}).items()}
    if found:
        with_text(answer, "\n\n".join(cell.source for cell in found), pictures)
        added[:] = [cell for cell in added if cell not in found]
    return found


def not_run(notebook, reason):
    """Mark every code cell as not run (without an error nbgrader would give full points)."""
    said = f"Not run: {reason}."
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [new_output("error", ename="NotRun", evalue=said, traceback=[said])]
