"""Run the module's tests with the oldest versions that pyproject.toml allows, and the newest.

Usage: python tools/release_ranges.py

Each run has an environment of its own in _build/ranges. Chapters, assignments and grading are not
tried: they run with the versions of requirements.txt alone. The exit code is 1 if a test fails.
"""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = (("3.11", "lowest-direct"), ("3.13", "highest"), ("3.14", "highest"))
SHOWN = ("numpy", "scipy", "scikit-learn", "matplotlib", "pillow", "statsmodels", "dask")
ROW = "{:8} {:14} {:>6} {:>7} {:>8} {:>7}   {}"


def uv(*arguments):
    command = [sys.executable, "-m", "uv", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def run_tests(python, folder):
    """Run the tests with this interpreter: how many ran, passed, were skipped, failed."""
    report = folder / "tests.xml"
    options = ["-q", "-n", "2", "--dist", "loadscope", "-p", "no:cacheprovider"]
    # Versions that never met before warn about each other: shown, but no error here.
    options += ["-W", "default::DeprecationWarning"]
    tests = ["tests/method", "tests/study", "slnp_edu", "slnp_study"]
    command = [python, "-m", "pytest", *options, f"--junitxml={report}", *tests]
    done = subprocess.run(command, cwd=ROOT)
    suite = ET.parse(report).getroot().find("testsuite")
    skipped = int(suite.get("skipped"))
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    tests = int(suite.get("tests"))
    return tests, tests - skipped - failed, skipped, failed, done.returncode


def main():
    table = [ROW.format("Python", "versions", "tests", "passed", "skipped", "failed", "with")]
    all_well = True
    for version, resolution in RUNS:
        folder = ROOT / "_build" / "ranges" / f"{version}-{resolution}"
        made = uv("venv", "--clear", "--no-python-downloads", "--python", version, str(folder))
        if made.returncode:
            print(f"left out: Python {version}, which is not on this machine")
            continue
        python = folder / "bin" / "python"
        options = ["--python", str(python), "--resolution", resolution]
        installed = uv("pip", "install", *options, "--editable", ".[test,cluster]")
        if installed.returncode:
            sys.exit(installed.stderr)
        *counts, code = run_tests(python, folder)
        listed = json.loads(uv("pip", "list", "--python", str(python), "--format=json").stdout)
        versions = {package["name"]: package["version"] for package in listed}
        shown = ", ".join(f"{name} {versions[name]}" for name in SHOWN)
        table.append(ROW.format(version, resolution, *counts, shown))
        all_well = all_well and code == 0
    print(*table, sep="\n")
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main())
