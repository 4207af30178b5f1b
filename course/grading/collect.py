"""What was handed in: which files, whose, for which assignment, when."""

import datetime
import hashlib
import json
import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field

import nbformat

LARGEST_FILE = 20_000_000  # bytes
MOST_CELLS = 300
LONGEST_NAME = 60  # characters of a student's, as the name of a folder


@dataclass
class Submission:
    student: str
    assignment: str
    files: list = field(default_factory=list)  # the newest last

    @property
    def path(self):
        return self.files[-1]

    @property
    def when(self):
        return datetime.datetime.fromtimestamp(self.path.lstat().st_mtime)


def same_form(text):
    """Names that differ in case, in underscores or in how an accent is stored are the same."""
    return re.sub(r"[_\s]", "-", unicodedata.normalize("NFC", text).lower())


def identifier(name):
    """A name for folders and for nbgrader's gradebook: letters, digits and . @ + - _"""
    name = unicodedata.normalize("NFC", name)
    return re.sub(r"[^\w.@+-]", "-", name).strip("._@+- ")[:LONGEST_NAME]


def find(folder, assignments):
    """The submissions in a folder, and the files that belong to no assignment.

    Whose: the first folder's name, or what comes before the assignment in the file's name.
    """
    found, other = defaultdict(list), []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if (path.is_dir() and not path.is_symlink()) or any(p.startswith(".") for p in parts):
            continue
        name = same_form(path.name)
        assignment = next((a for a in assignments if same_form(a) in name), None)
        owner = parts[0] if assignment is None or len(parts) > 1 else before(path.name, assignment)
        if assignment and identifier(owner):
            found[owner, assignment].append(path)
        else:
            other.append(path)
    for files in found.values():
        files.sort(key=lambda p: (p.suffix.lower() == ".ipynb", p.lstat().st_mtime, p.name))
    return named_apart(found), other


def before(name, assignment):
    name = unicodedata.normalize("NFC", name)
    return name[: same_form(name).find(same_form(assignment))]


def named_apart(found):
    """Give every student an identifier of their own: `ann b` and `ann-b` are two people."""
    alike = defaultdict(set)
    for owner, _ in found:
        alike[identifier(owner).casefold()].add(owner)
    submissions = []
    for (owner, assignment), files in found.items():
        student = identifier(owner)
        if len(alike[student.casefold()]) > 1:
            student += "-" + hashlib.sha256(owner.encode("utf-8", "replace")).hexdigest()[:6]
        submissions.append(Submission(student, assignment, files))
    return sorted(submissions, key=lambda s: (s.student, s.assignment))


def read(path):
    """The notebook in a file; ValueError says what else it is."""
    if path.is_symlink() or not path.is_file():
        raise ValueError("a link or a special file")
    if not 0 < path.stat().st_size <= LARGEST_FILE:
        raise ValueError("the file is empty, or larger than 20 MB")
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
        raise ValueError("it cannot be read as one") from problem
    return notebook
