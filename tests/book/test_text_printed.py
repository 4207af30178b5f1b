"""The companion quotes the paper's formulas as printed; where its source is at hand, compare.

Set SLNP_EDU_PAPER to the paper's TeX file (arXiv 1709.02896). It is not part of this repository.
"""

import os
import re
from pathlib import Path

import nbformat
import pytest

LINES = sorted((Path(__file__).parents[2] / "book").glob("line-*.ipynb"))
SOURCE = os.environ.get("SLNP_EDU_PAPER")


def numbered(tex):
    """Number -> formula, in the order of the paper."""
    tex = re.sub(r"(?<!\\)%.*", "", tex)
    found = []
    for kind, body in re.findall(r"\\begin\{(equation|f?l?align)\}(.*?)\\end\{\1\}", tex, re.S):
        found += [body] if kind == "equation" else rows(body)
    return dict(enumerate(found, start=1))


def rows(body):
    """Split the body of an align at those line breaks that stand inside no other environment."""
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
    formula = re.sub(r"[{}&\s]|\\[,!]|\\\\(?![a-zA-Z])|\\mspace-?\d+mu", "", formula)
    return formula.rstrip(".,")


def quoted():
    """Number -> formula, from the companion's pages."""
    found = {}
    for path in LINES:
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        for number, formula in re.findall(r"^\(eq-(\d+)\)=\n(.*?)\\tag\{\1\}", text, re.M | re.S):
            found[int(number)] = formula
    return found


@pytest.mark.skipif(not SOURCE, reason="SLNP_EDU_PAPER does not name the paper's source")
@pytest.mark.parametrize("number", quoted())
def test_a_formula_is_quoted_as_printed(number):
    printed = numbered(Path(SOURCE).read_text())
    assert len(printed) == 58
    assert bare(quoted()[number]) == bare(printed[number])
