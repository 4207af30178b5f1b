"""The landing page quotes the records, and the glossary knows every equation."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from slnp_edu import paper, records

ROOT = Path(__file__).parent.parent


def test_the_finding_is_what_the_records_say(tmp_path):
    tool = [sys.executable, str(ROOT / "tools" / "landing.py"), str(tmp_path)]
    told = subprocess.run(tool, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    finding = (ROOT / "book" / "index.md").read_text().replace("\n", " ")
    lda, lfda = told.split("LFDA:")
    for rival in (lda, lfda):
        low, high = re.search(r"printed (\S+) to (\S+)", rival).groups()
        assert f"(printed: {low} to {high})" in finding
    low, high = re.search(r"orthonormal: (\S+) to (\S+);", lda).groups()
    assert f"between {low} and {high} points of LDA" in finding
    bounds = re.search(r"orthonormal: -(\S+) to \+(\S+);", lfda).groups()
    assert f"within {max(bounds)} points of LFDA" in finding
    behind = [re.search(r"whitened: .* behind in (\d+)", rival).group(1) for rival in (lda, lfda)]
    assert f"behind LDA in {behind[0]} columns and behind LFDA in {behind[1]}" in finding
    for picture in ("landing.png", "landing-narrow.png"):
        assert (tmp_path / picture).stat().st_size > 10_000


def test_the_quoted_distance_to_the_printed_rates():
    gaps = [
        paper.rate(dataset, "SLNP", N_i)
        - np.mean(records.rates(records.load(dataset), N_i)["SLNP"]["orthonormal"])
        for dataset, columns in paper.DIMENSIONS.items()
        for N_i in columns
    ]
    finding = (ROOT / "book" / "index.md").read_text()
    assert f"from {-min(gaps):.1f} points above to {max(gaps):.1f} below" in finding
    assert len(gaps) == 17


def test_the_glossary_lists_every_equation_once():
    listed = re.findall(r"^equation (\d+)\n", (ROOT / "book" / "glossary.md").read_text(), re.M)
    assert [int(number) for number in listed] == list(range(1, 59))
