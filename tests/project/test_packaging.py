"""What is installed is what is imported, and no more than a reader needs."""

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"] | {"method": PROJECT["dependencies"]}
STUDY = ("method", "show", "study")
FOLDERS = ("slnp_edu", "slnp_study", "course", "tools", "tests", "benchmarks")
OURS = {path.stem for folder in FOLDERS for path in (ROOT / folder).rglob("*")} | set(FOLDERS)


def declared(extras):
    """The packages in these extras of pyproject.toml."""
    names = {
        canonicalize_name(Requirement(line).name) for extra in extras for line in EXTRAS[extra]
    }
    return names - {"slnp-edu"}


def pinned(file):
    """The packages in a file of exact versions."""
    lines = (ROOT / file).read_text().splitlines()
    return {canonicalize_name(line.split("==")[0]) for line in lines if line[0] != "#"}


def imported(*folders):
    """The packages that the files of these folders import, ours and Python's own left out."""
    names = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module.split(".")[0])
    providers = packages_distributions()
    names -= set(sys.stdlib_module_names) | OURS
    return {canonicalize_name(providers.get(name, [name])[0]) for name in names}


def test_what_is_declared_for_the_packages_is_imported_by_them():
    assert declared(STUDY) <= imported("slnp_edu", "slnp_study")


def test_every_import_is_declared_and_every_package_has_its_exact_version():
    assert imported(*FOLDERS) <= declared(EXTRAS)
    assert declared((*STUDY, "book", "test")) <= pinned("requirements.txt")
    assert declared(EXTRAS) <= pinned("requirements.txt") | pinned("constraints.txt")


def test_the_set_up_stays_light():
    """`make book` and `make test` need no more: what only another target uses is an extra of it."""
    assert len(pinned("requirements.txt")) <= 140


def test_the_method_alone_is_a_small_wheel():
    make = ["make", "-s", "-o", ".venv/.ready", "wheel", f"BIN={Path(sys.executable).parent}"]
    subprocess.run(make, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (ROOT / "_build" / "method").glob("*.whl")
    assert wheel.stat().st_size < 60_000
    script = f"import sys; sys.path.insert(0, {str(wheel)!r}); import slnp_edu; slnp_edu.SLNP(2)"
    assert subprocess.run([sys.executable, "-I", "-c", script], cwd=wheel.parent).returncode == 0


def test_the_version_has_its_changes():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {PROJECT['version']}\n" in changes
