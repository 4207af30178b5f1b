"""Formulas become MathML: with the signs that another converter finds, or the build stops."""

import html
import re
import unicodedata
from collections import Counter
from pathlib import Path

import build_formulas
import nbformat
import pytest
from docutils import nodes
from fontTools.subset import parse_unicodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
FORMULA = r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+)\$|(\\begin\{equation\*\}.+?\\end\{equation\*\})"
# The two disagree on the form of a dot, a star, a square, a quotation mark.
SAME = str.maketrans("⋅·∗■”", '..*∎"')
RAW = "&\\$"  # what latex2mathml leaves of a text with dollars, of "&&" and of \arg


def formulas():
    """Every formula of the book and of the assignments, as its author wrote it."""
    for path in (*ROOT.glob("book/*.*"), *ROOT.glob("course/assignments/release/*/*.ipynb")):
        if path.suffix == ".ipynb":
            cells = nbformat.read(path, as_version=4).cells
            texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
        else:
            texts = [path.read_text(encoding="utf-8")] if path.suffix == ".md" else []
        for found in re.findall(FORMULA, "\n\n".join(texts), re.DOTALL):
            yield "".join(found)


def signs(mathml):
    """How often each sign is there, bold or not; spaces and invisible signs don't count."""
    text = unicodedata.normalize("NFKC", html.unescape(re.sub("<[^>]*>", "", mathml)))
    text = "".join(text.translate(SAME).split())
    return Counter(s for s in text if s not in RAW and unicodedata.category(s) != "Cf")


def test_every_formula_has_the_signs_that_another_converter_finds():
    every = set(formulas())
    assert len(every) > 900
    for tex in every:
        theirs = convert(re.sub(build_formulas.TAG, "", tex))
        assert signs(build_formulas.mathml(tex)) == signs(theirs), tex


def test_the_font_has_every_sign():
    text = "".join(build_formulas.mathml(tex) for tex in formulas())
    used = {ord(sign) for sign in html.unescape(re.sub("<[^>]*>", "", text)) if not sign.isspace()}
    assert used <= set(parse_unicodes(build_formulas.BLOCKS))


def test_an_unknown_command_stops_the_build_with_its_place():
    paragraph = nodes.paragraph("", "", nodes.math("", r"\gamma + \gama"))
    paragraph.source, paragraph.line = "book/page.md", 7
    with pytest.raises(ExtensionError, match=r"page\.md:7.*gama"):
        build_formulas.write("span", None, paragraph[0])
