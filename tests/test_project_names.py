"""What the pages for contributors name is there: files, folders, targets of make."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

import slnp_edu
import slnp_edu.data

ROOT = Path(__file__).parent.parent
FOLDERS = ("slnp_edu", "tests", "tools", "book", "assignments", "benchmarks")
# What begins with ^ is a pattern, not a path.
PATH = re.compile(rf"(?<![\w/.^-])(?:{'|'.join(FOLDERS)})/[\w./*-]*[\w*]")
# Made by a contributor or by a run.
MADE = ("a7-name", "book/NN", "book/04-s-step.md", "book/results/.partial")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))


def tracked(*patterns):
    command = ["git", "ls-files", *patterns]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.split()


PAGES = tracked("*.md", "Makefile", "pyproject.toml", ".pre-commit-config.yaml", "*.css", "*.js")


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_is_named_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {path for path in PATH.findall(text) if not any(made in path for made in MADE)}
    there = [path for path in named for top in (ROOT, ROOT / "slnp_edu") if any(top.glob(path))]
    assert named == set(there)


@pytest.mark.parametrize("page", [page for page in PAGES if page.endswith(".md")])
def test_every_target_that_is_named_is_in_the_makefile(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert set(re.findall(r"(?:`|^)make ([a-z]+)", text, re.M)) <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_does_nothing_that_the_makefile_does_not(path):
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    runs = [step["run"].split() for job in jobs for step in job["steps"] if "run" in step]
    assert runs
    assert all(run[0] == "make" and run[1] in TARGETS for run in runs)


def test_every_method_and_every_loader_is_on_the_page_of_the_module():
    loaders = {name for name in slnp_edu.data.__all__ if name.startswith(("load_", "make_"))}
    named = set(re.findall(r"\w+", (ROOT / "book" / "api.md").read_text(encoding="utf-8")))
    assert set(slnp_edu.__all__) | loaders <= named
