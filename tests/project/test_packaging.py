"""What is installed with the module is what it imports."""

import ast
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from slnp_edu.data.needs import NEEDED

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = {path.stem for folder in ("tests", "tools") for path in (ROOT / folder).rglob("*")}


def distributions(requirements):
    names = {canonicalize_name(Requirement(line).name) for line in requirements}
    return names - {"slnp-edu"}


def imported(*folders):
    """Top-level names that the files of these folders import, ours and Python's own left out."""
    names = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - OURS - {"slnp_edu"}


def brought_by(names):
    providers = packages_distributions()
    return {canonicalize_name(providers[name][0]) for name in names}


def test_what_is_declared_for_the_module_is_imported_by_it():
    declared = distributions(PROJECT["dependencies"]) | distributions(EXTRAS["data"])
    assert declared <= brought_by(imported("slnp_edu"))


def test_every_import_is_declared():
    everything = distributions(PROJECT["dependencies"] + [r for e in EXTRAS.values() for r in e])
    assert brought_by(imported("slnp_edu", "tools", "tests", "benchmarks")) <= everything


def test_the_version_has_its_changes():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {PROJECT['version']}\n" in changes


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def without(names):
    return f"import sys; sys.modules.update(dict.fromkeys({list(names)!r})); "


def test_the_method_runs_without_the_extra():
    fit = "SLNP(1, 2).fit([[0, 1], [1, 0], [2, 3], [3, 1], [5, 5], [6, 1]], [0, 0, 0, 1, 1, 1])"
    done = python(without(NEEDED) + f"from slnp_edu import SLNP; {fit}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("room", ["data", "evidence", "book"])
@pytest.mark.parametrize("name", NEEDED)
def test_a_missing_package_is_named_with_the_extra_that_brings_it(room, name):
    done = python(without([name]) + f"import slnp_edu.{room}")
    said = done.stderr.strip().splitlines()[-1]
    assert said == (
        f"ImportError: The data sets, the experiments and the figures need {name}: "
        'pip install "slnp-edu[data]" brings them.'
    )
