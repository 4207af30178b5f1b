"""Find what was handed in: which files, whose they are, and for which assignment."""

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


def same_form(text):
    """Names that differ in case, in underscores or in how an accent is stored are the same."""
    return re.sub(r"[_\s]", "-", unicodedata.normalize("NFC", text).lower())


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
        if assignment and re.search(r"\w", owner):
            found[identifier(owner), assignment].append(path)
        else:
            other.append(path)
    for files in found.values():
        files.sort(key=lambda p: (p.suffix.lower() == ".ipynb", p.lstat().st_mtime, p.name))
    return [Submission(*whose, files) for whose, files in sorted(found.items())], other


def whole_class(folder, found):
    """The name of the one folder in which everything lies, if the students' folders are there."""
    paths = [p.relative_to(folder).parts for submission in found for p in submission.files]
    inner = {parts[:2] for parts in paths if len(parts) > 2}
    return paths[0][0] if len(inner) > 1 and len({parts[0] for parts in paths}) == 1 else None


def before(name, assignment):
    name = unicodedata.normalize("NFC", name)
    return name[: same_form(name).find(same_form(assignment))]


def identifier(name):
    """A name for folders and for nbgrader's gradebook, each student's own.

    It has letters, digits and . @ + - _ alone, and a mark if that changed anything: `ann b` and
    `ann-b` are two people.
    """
    name = unicodedata.normalize("NFC", name).strip("._ -")
    plain = re.sub(r"[^\w.@+-]", "-", name).strip("._@+- ")[:LONGEST_NAME]
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return plain if plain == name else f"{plain}-{mark}"


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
