"""Generate the student versions with nbgrader; refuse if a committed one has drifted.

Usage: python course/make_assignments.py [--update]
"""

import argparse
import locale
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path

import nbformat
from nbgrader.converters import GenerateAssignment, NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import JSONFileConfigLoader

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from author_clean_notebooks import clean

ASSIGNMENTS = Path(__file__).parent / "assignments"
KEPT_CELL_METADATA = ("nbgrader", "deletable", "editable")

logging.basicConfig(format="%(message)s", level=logging.ERROR)  # what nbgrader complains about
# nbgrader calls alembic by name to set up a gradebook; it lies beside this Python, and reads its
# settings, paths among them, in the encoding of the locale, whatever Python is told.
os.environ["PYTHONUTF8"] = "1"
if locale.getencoding().lower() != "utf-8":
    os.environ["LC_ALL"] = "C.UTF-8"
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def names(folder):
    """The assignments of a course folder, in order."""
    return sorted(path.parent.name for path in Path(folder).glob("source/*/*.ipynb"))


def configuration(folder, course):
    """nbgrader's settings from `folder`, for a course kept in the folder `course`."""
    config = JSONFileConfigLoader("nbgrader_config.json", path=str(folder)).load_config()
    config.CourseDirectory.root = str(Path(course).resolve())
    config.CourseDirectory.db_url = f"sqlite:///{Path(course).resolve() / 'gradebook.db'}"
    return config


def generate(folder, course):
    """Write the student versions of `folder` into `course`/release and the gradebook beside it.

    `course` becomes an nbgrader course: source, release, gradebook.db.
    """
    folder, course = Path(folder), Path(course)
    shutil.copytree(folder / "source", course / "source", dirs_exist_ok=True)
    config = configuration(folder, course)
    for name in names(course):
        config.CourseDirectory.assignment_id = name
        directory = CourseDirectory(config=config)
        converter = GenerateAssignment(coursedir=directory, config=config)
        converter.force = True
        converter.start()
        path = course / "release" / name / f"{name}.ipynb"
        notebook = clean(nbformat.read(path, as_version=4), KEPT_CELL_METADATA)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        nbformat.validate(notebook)
        path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def check(folder, update=False):
    """Bring `folder`/release up to date; return a sentence for each version that drifted."""
    drifted = []
    with tempfile.TemporaryDirectory() as course:
        generate(folder, course)
        for name in names(folder):
            new = (Path(course) / "release" / name / f"{name}.ipynb").read_bytes()
            path = Path(folder) / "release" / name / f"{name}.ipynb"
            if path.exists() and path.read_bytes() == new:
                continue
            if path.exists() and not update:
                drifted.append(f"The student version of {name} is not what its source gives.")
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(new)
            print(f"wrote {name}")
    for path in sorted(Path(folder).glob("release/*")):
        if path.name in names(folder):
            continue
        if update:
            shutil.rmtree(path)
            print(f"removed {path.name}")
        else:
            drifted.append(f"The student version of {path.name} has no source.")
    return drifted


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="replace versions that drifted")
    parser.add_argument("--folder", type=Path, default=ASSIGNMENTS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        drifted = check(options.folder, options.update)
    except NbGraderException:
        print("nbgrader cannot make a student version; the reason is above.", file=sys.stderr)
        return 1
    if drifted:
        print(*drifted, sep="\n", file=sys.stderr)
        print(
            "Edit only course/assignments/source; then write the student versions with: "
            "make assignments UPDATE=1",
            file=sys.stderr,
        )
        return 1
    print(f"{len(names(options.folder))} student versions are up to date.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
