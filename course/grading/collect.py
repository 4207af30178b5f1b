"""What was handed in: which files, whose, for which assignment, when."""

import datetime
import hashlib
import json
import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from grading.clean import one_line

LARGEST_FILE = 20_000_000  # bytes
MOST_CELLS = 300
LONGEST_NAME = 60  # characters of a student's, as the name of a folder
# How Moodle and Canvas name what they let a teacher download.
MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)")
CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>\d+)_\d+_(?P<rest>.*)")


@dataclass
class Submission:
    student: str
    assignment: str
    lms_id: str = ""
    late: bool = False  # as Canvas marks it
    moodle: bool = False  # then the number is that of the assignment's participant
    notebooks: list = field(default_factory=list)  # the one to grade last
    beside: list = field(default_factory=list)  # other files: a scan, a picture

    @property
    def path(self):
        return self.notebooks[-1]

    @property
    def when(self):
        return datetime.datetime.fromtimestamp(self.path.lstat().st_mtime)

    def notes(self):
        """What a teacher should know about the files."""
        notes = []
        if len(self.notebooks) > 1:
            named = ", ".join(one_line(path.name) for path in self.notebooks)
            notes.append(f"{len(self.notebooks)} files handed in: {named}; graded the newest")
        if self.beside:
            notes.append(f"handed in beside it: {', '.join(one_line(p.name) for p in self.beside)}")
        return notes


def same_form(text):
    """Names that differ in case, in underscores or in how an accent is stored are the same."""
    return re.sub(r"[_\s]", "-", unicodedata.normalize("NFC", text).lower())


def assignment_in(name, assignments):
    return next((a for a in assignments if same_form(a) in same_form(name)), None)


def owner(name, rest):
    """(student, number in the learning system, late) from the name of a folder or a file."""
    name = unicodedata.normalize("NFC", name)
    for pattern in (MOODLE, CANVAS):
        match = pattern.fullmatch(name)
        if match:
            late = "late" in match.groupdict() and match["late"]
            return match["name"].strip(), match["id"], bool(late)
    if rest is not None:
        name = name[: same_form(name).find(same_form(rest))]
    return name.strip(" _-."), "", False


def identifier(name):
    """A name for folders and for nbgrader's gradebook: letters, digits and . @ + - _"""
    return re.sub(r"[^\w.@+-]", "-", name).strip("._@+- ")[:LONGEST_NAME]


def find(folder, assignments):
    """The submissions in a folder, and the files that belong to no assignment."""
    found, other = {}, []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if (path.is_dir() and not path.is_symlink()) or any(p.startswith(".") for p in parts):
            continue
        assignment = assignment_in(path.name, assignments)
        by_folder = assignment is None and len(parts) > 1
        if by_folder:
            assignment = assignment_in("/".join(parts[1:-1]), assignments)
        whole = parts[0] if len(parts) > 1 else path.name
        name, lms_id, late = owner(whole, assignment if len(parts) == 1 else None)
        if not assignment or not identifier(name):
            other.append(path)
            continue
        key = (name, lms_id, assignment)
        submission = found.setdefault(key, Submission(name, assignment, lms_id))
        submission.late |= late
        submission.moodle = bool(MOODLE.fullmatch(unicodedata.normalize("NFC", whole)))
        kind = submission.notebooks if path.suffix.lower() == ".ipynb" else submission.beside
        kind.append(path)
    for submission in found.values():
        submission.notebooks.sort(key=lambda p: (p.lstat().st_mtime, natural(p.name)))
        if not submission.notebooks:  # something was handed in; that it is no notebook is said
            submission.notebooks, submission.beside = submission.beside, []
    return named_apart(list(found.values())), other


def natural(name):
    """Sorts "x.ipynb" before "x (1).ipynb" and "x-2.ipynb" before "x-10.ipynb"."""
    stem = Path(name).stem
    return [
        (part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", stem)
    ][:20], len(stem)


def people_of(submissions):
    """For each submission whose it is: a name, and a number where the name alone does not tell.

    Canvas's number is a person's. Moodle numbers people anew in each assignment, so there it only
    tells namesakes apart: two who handed in the same assignment.
    """
    times = Counter((s.student, s.assignment) for s in submissions)
    namesakes = {name for (name, _), count in times.items() if count > 1}
    own = [s.lms_id if s.student in namesakes or not s.moodle else "" for s in submissions]
    return [(s.student, number) for s, number in zip(submissions, own, strict=True)]


def named_apart(submissions):
    """Give every student an identifier of their own: `ann b` and `ann-b` are two people."""
    people, alike = people_of(submissions), defaultdict(set)
    for person in people:
        alike[identifier(person[0]).casefold()].add(person)
    for submission, (name, number) in zip(submissions, people, strict=True):
        submission.student = identifier(name)
        others = alike[submission.student.casefold()]
        plain = min(others, key=lambda person: (identifier(person[0]) != person[0], person))
        if (name, number) != plain:
            mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:4]
            submission.student += f"-{number or mark}"
            while submission.student.casefold() in alike:  # somebody else is called so
                submission.student += "-2"
    return sorted(submissions, key=lambda s: (s.student, s.assignment))


def read(path):
    """The notebook in a file; ValueError says what else it is."""
    if path.is_symlink() or not path.is_file():
        raise ValueError("not a notebook: a link or a special file")
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError("not graded: the file is larger than 20 MB")
    if path.stat().st_size == 0:
        raise ValueError("not a notebook: the file is empty")
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
        if len(data["cells"]) > MOST_CELLS:  # they would keep the grading busy for hours
            raise TypeError
        for cell in data["cells"]:
            cell |= {"outputs": []} if "outputs" in cell else {}  # nobody looks at them
        notebook = nbformat.reads(json.dumps(data), as_version=4)
        for cell in notebook.cells:
            if not isinstance(cell.source, str) or not isinstance(cell.metadata, dict):
                raise TypeError
            (cell.source + cell.cell_type).encode()  # half a character cannot be stored
    except Exception as problem:
        raise ValueError("not a notebook: it cannot be read as one") from problem
    return notebook
