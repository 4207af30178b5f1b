"""Every equation of the paper is in the book once, as printed, beside a cell that runs it.

Set SLNP_EDU_PAPER to the paper's TeX file (arXiv 1709.02896) to compare all of them with it. It's
not part of this repository.
"""

import os
import re
from pathlib import Path

import nbformat
import pytest

BOOK = Path(__file__).parents[2] / "book"
NOTEBOOKS = {path.name: nbformat.read(path, as_version=4).cells for path in BOOK.glob("*.ipynb")}
NUMBERS = list(range(1, 59))
SHOWN = re.compile(r"^\(eq-(\d+)\)=\n(.*?)\\tag\{\1\}", re.M | re.S)
SOURCE = os.environ.get("SLNP_EDU_PAPER")


def equations():
    """Number, formula, name of the notebook and place of the cell, in the order of the book."""
    for name, cells in sorted(NOTEBOOKS.items()):
        for place, cell in enumerate(cells):
            for number, formula in SHOWN.findall(cell.source):
                yield int(number), formula, name, place


def test_every_equation_is_there_once_in_the_order_of_the_paper():
    assert sorted(number for number, *_ in equations()) == NUMBERS
    companion = [number for number, _, name, _ in equations() if name.startswith("line-")]
    assert companion == sorted(companion)
    everything = "\n".join(cell.source for cells in NOTEBOOKS.values() for cell in cells)
    assert everything.count(r"\tag{") == len(NUMBERS)


def test_a_cell_close_by_runs_every_equation():
    lacking = []
    for number, _, name, place in equations():
        following = [cell.source for cell in NOTEBOOKS[name][place:] if cell.cell_type == "code"]
        comments = re.findall(r"#(.*)", "\n".join(following[:2]))
        if not any(f"({number})" in comment for comment in comments):
            lacking.append((number, name))
    assert not lacking


def test_the_glossary_lists_every_equation_once():
    listed = re.findall(r"^equation (\d+)\n", (BOOK / "glossary.md").read_text("utf-8"), re.M)
    assert list(map(int, listed)) == NUMBERS


def numbered(tex):
    """Number -> formula, in the order of the paper."""
    tex = re.sub(r"(?<!\\)%.*", "", tex)
    found = []
    for kind, body in re.findall(r"\\begin\{(equation|f?l?align)\}(.*?)\\end\{\1\}", tex, re.S):
        found += [body] if kind == "equation" else rows(body)
    return dict(enumerate(found, start=1))


def rows(body):
    """Split the body of an align at those line breaks that are inside no other environment."""
    body = re.sub(r"\\intertext\{.*?\}", r"\\\\", body)
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"\\begin|\\end|\\\\", body):
        if match[0] == r"\\" and depth == 0:
            parts.append(body[start : match.start()])
            start = match.end()
        depth += {r"\begin": 1, r"\end": -1}.get(match[0], 0)
    return [part for part in [*parts, body[start:]] if part.strip()]


def bare(formula):
    """The formula without what only sets it: spaces, alignment, the full stop at its end."""
    formula = re.sub(r"\\(med|thick|thin)muskip\s*-?\d+mu", "", formula)
    formula = re.sub(r"\\(begin|end)\{(split|aligned|equation\*)\}|\$\$", "", formula)
    formula = re.sub(r"\\limits|\\text(?=\{=)", "", formula)
    formula = re.sub(r"[{}&\s]|\\[,!]|\\\\(?![a-zA-Z])|\\mspace-?\d+mu", "", formula)
    return formula.rstrip(".,")


@pytest.mark.skipif(not SOURCE, reason="SLNP_EDU_PAPER does not name the paper's source")
def test_every_formula_is_quoted_as_printed():
    printed = numbered(Path(SOURCE).read_text("utf-8"))
    assert list(printed) == NUMBERS
    for number, formula, *_ in equations():
        assert bare(formula) == bare(printed[number]), number
