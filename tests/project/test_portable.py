"""make portable: a cell or a number that differs must show in the table and in the exit code."""

import importlib.util
import subprocess
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output, writes

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("portable", ROOT / "tools" / "release_portable.py")
portable = importlib.util.module_from_spec(spec)
spec.loader.exec_module(portable)


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of one notebook: two cells whose outputs are right, one whose output is not."""
    monkeypatch.setattr(portable, "ROOT", tmp_path)
    (tmp_path / "book").mkdir()
    options = "--nbval --nbval-current-env"
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {options}\n")

    def write(*said):
        cells = [
            new_code_cell(
                f"print({i})", outputs=[new_output("stream", text=f"{text}\n")], execution_count=1
            )
            for i, text in enumerate(said)
        ]
        (tmp_path / "book" / "a.ipynb").write_text(writes(new_notebook(cells=cells)))

    return write


def test_cells_that_differ_are_counted(book):
    book("0", "1", "2")
    assert portable.compare_cells(portable.environment()) == (3, 3, True)
    book("0", "7", "2")
    assert portable.compare_cells(portable.environment()) == (3, 2, False)


HELD = (
    "mnist: 6 units run again, 112 numbers compared, 112 equal to the last digit, 0 too far off\n"
)
OFF = "coil100: 6 units run again, 96 numbers compared, 90 equal to the last digit, 2 too far off\n"
SKIPPED = "yale_b: skipped, Extended Yale B is not on this machine\n"
SAID = [
    (HELD, 0, (112, 112, True)),
    (SKIPPED + HELD, 0, (112, 112, True)),
    (HELD + OFF, 2, (208, 206, False)),
    ("", 0, (0, 0, False)),  # nothing compared is not a success
]


@pytest.mark.parametrize(("stdout", "code", "expected"), SAID)
def test_numbers_that_are_off_are_counted(stdout, code, expected, monkeypatch, capsys):
    done = subprocess.CompletedProcess([], code, stdout, "")
    monkeypatch.setattr(portable.subprocess, "run", lambda *args, **options: done)
    assert portable.compare_records({}) == expected
    assert (SKIPPED in capsys.readouterr().out) == (SKIPPED in stdout)


def test_one_difference_makes_the_run_fail(monkeypatch, capsys):
    monkeypatch.setattr(portable.sys, "argv", ["portable.py", "--few"])
    monkeypatch.setattr(portable, "loaded", lambda kernel=None: kernel or "Haswell")
    monkeypatch.setattr(portable, "compare_records", lambda env, names: (5, 5, True))
    for bad in ("Nehalem", "Sandybridge", "none"):
        monkeypatch.setattr(
            portable,
            "compare_cells",
            lambda env, bad=bad: (
                (9, 8, False) if env.get("OPENBLAS_CORETYPE") == bad else (9, 9, True)
            ),
        )
        assert portable.main() == (0 if bad == "none" else 1)
        table = capsys.readouterr().out.split("\n\n")[-1]
        assert [line.split()[0] for line in table.splitlines()[:4]] == [
            "kernel", "Nehalem", "Sandybridge", "Haswell",
        ]  # fmt: skip
