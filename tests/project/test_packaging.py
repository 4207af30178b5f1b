"""What is installed with the packages is what they import."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = {path.stem for folder in ("tests", "tools", "course") for path in (ROOT / folder).rglob("*")}


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
    return names - set(sys.stdlib_module_names) - OURS - {"slnp_edu", "slnp_study"}


def brought_by(names):
    providers = packages_distributions()
    return {canonicalize_name(providers[name][0]) for name in names}


def test_what_is_declared_for_the_module_is_imported_by_it():
    declared = distributions(PROJECT["dependencies"]) | distributions(EXTRAS["data"])
    assert declared <= brought_by(imported("slnp_edu", "slnp_study"))


def test_every_import_is_declared():
    everything = distributions(PROJECT["dependencies"] + [r for e in EXTRAS.values() for r in e])
    assert (
        brought_by(imported("slnp_edu", "slnp_study", "course", "tools", "tests", "benchmarks"))
        <= everything
    )


def test_the_version_has_its_changes():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {PROJECT['version']}\n" in changes
