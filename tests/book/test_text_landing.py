"""The landing page quotes the records, and the glossary knows every equation."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np

from slnp_study import paper, records

ROOT = Path(__file__).parents[2]


def test_the_finding_is_what_the_records_say(tmp_path):
    tool = [sys.executable, str(ROOT / "tools" / "author_draw_landing.py"), str(tmp_path)]
    told = subprocess.run(tool, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    finding = (ROOT / "book" / "index.md").read_text().replace("\n", " ")

    def said(start):
        (line,) = [line for line in told.splitlines() if line.startswith(start)]
        words = r"(\S+) to (\S+) points(?:; level in (\d+), ahead in (\d+), behind in (\d+), "
        return re.search(words + r"undecided in (\d+))?", line).groups()

    for rival in ("LDA", "LFDA"):
        low, high, *_ = said(f"printed against {rival}")
        assert f"of {low} to {high}" in finding or f"printed: {low} to {high}" in finding
    low, high, level, ahead, behind, undecided = said("both orthonormal, against LFDA")
    assert f"in {level} of the 17 columns" in finding
    assert f"ahead in {ahead}, behind in {behind} and undecided in {undecided}" in finding
    assert f"from {low} to {high} points; the paper prints" in finding
    low, high, level, ahead, behind, undecided = said("both orthonormal, against LDA")
    assert f"run from {low} to {high} points, level in {level} columns" in finding
    assert f"ahead in {ahead}, behind in {behind} and undecided in {undecided}; " in finding
    *_, level, ahead, behind, undecided = said("both whitened, against LFDA")
    assert f"level with LFDA in {level} columns, ahead in {ahead}, behind in {behind}" in finding
    assert f"behind in {behind} and undecided in {undecided}." in finding
    for picture in ("toy.svg", "landing.png", "landing-narrow.png"):
        assert (tmp_path / picture).stat().st_size > 10_000


def test_the_minutes_of_chapter_1_are_counted_from_its_words():
    """75 words a minute leave time for formulas, code and figures; exercises are not counted."""
    chapter = nbformat.read(ROOT / "book" / "01-toy.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")
    words = re.findall(r"[A-Za-z']{2,}", text.split("\n## Exercises")[0])
    minutes = re.search(r"chapter 1, (\d+) minutes", (ROOT / "book" / "index.md").read_text())[1]
    assert abs(int(minutes) - len(words) / 75) < 5
    assert f"| {minutes} min |" in (ROOT / "book" / "teaching.md").read_text().split("ch-toy")[1]


def printed_minus_measured(basis):
    """SLNP's rate in each of the 17 columns."""
    return [
        paper.rate(dataset, "SLNP", N_i)
        - np.mean(records.rates(records.load(dataset), N_i)["SLNP"][basis])
        for dataset, columns in paper.DIMENSIONS.items()
        for N_i in columns
    ]


def test_the_quoted_distance_to_the_printed_rates():
    gaps, white = map(printed_minus_measured, ("orthonormal", "whitened"))
    finding = (ROOT / "book" / "index.md").read_text()
    assert (
        f"from {-min(gaps):.1f} points above the printed ones to {max(gaps):.1f} below" in finding
    )
    assert f"lie {min(white):.1f} to {max(white):.1f} points below the printed ones" in finding
    assert len(gaps) == 17


def test_the_glossary_lists_every_equation_once():
    listed = re.findall(r"^equation (\d+)\n", (ROOT / "book" / "glossary.md").read_text(), re.M)
    assert [int(number) for number in listed] == list(range(1, 59))
