"""Sphinx extension: formulas as MathML, which browsers typeset without a script.

math-core turns TeX into MathML when the book is built, and the font is the one that ziamath's wheel
carries, STIX Two Math (SIL Open Font License), without the blocks of Unicode that no formula of
this book is near: whole, it weighs 1.5 MB. A sign from elsewhere comes from the reader's own fonts.
"""

import re
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from math_core import LatexError, LatexToMathML
from sphinx.errors import ExtensionError
from sphinx.util.logging import get_node_location

CONVERTER = LatexToMathML(fancy_error=False)
TAG = r"\\tag\{(\w+)\}"
# What math-core 0.9 does not know, in words that it knows.
IN_OTHER_WORDS = {
    TAG: "",  # set at the right margin, see write()
    r"\\(begin|end)\{equation\*\}": "",
    r"\\(begin|end)\{split\}": r"\\\1{aligned}",
    r"\\begin\{smallmatrix\}": r"\\begin{subarray}{c}",
    r"\\end\{smallmatrix\}": r"\\end{subarray}",
    r"\\text\{([^{}$]*)\$([^$]*)\$([^{}$]*)\}": r"\\text{\1}\2\\text{\3}",
    r"\\\\\s*\\end\{cases\}": r"\\end{cases}",  # it would be an empty row
}
# Latin, Greek, signs of punctuation, arrows, operators, brackets. Bold and italic letters, digits.
BLOCKS = "20-7E,A0-D7,391-3F6,2010-2064,210E,211D,2190-2194,2200-226F,22C0-22F1,2308-230B,23DC-23DF"
BLOCKS += ",25A0,1D400-1D467,1D538-1D550,1D6A8-1D71B,1D736-1D74F,1D7CE-1D7D7"


def mathml(tex, displaystyle=False):
    for pattern, words in IN_OTHER_WORDS.items():
        tex = re.sub(pattern, words, tex)
    found = CONVERTER.convert_with_local_state(tex, displaystyle=displaystyle)
    return found.replace(' rspace="0">∑', ">∑")  # a summand in braces keeps its distance


def write(tag, translator, node):
    """The formula in a span within a line, or in a div, then with the number of the paper."""
    tex = node.astext()
    try:
        formula = mathml(tex, displaystyle=tag == "div")
    except LatexError as error:
        while get_node_location(node) is None and node.parent:
            node = node.parent
        raise ExtensionError(f"{get_node_location(node)}: {error} In: {tex}") from error
    opening = translator.starttag(node, tag, "", CLASS="math notranslate nohighlight")
    numbers = "".join(f'<span class="eqno">({number})</span>' for number in re.findall(TAG, tex))
    translator.body.append(f"{opening}{formula}{numbers}</{tag}>")
    raise nodes.SkipNode


def cut(font, blocks, target):
    """The signs of these blocks of Unicode as a font of their own."""
    options = subset.Options(layout_features=[], hinting=False, flavor="woff")
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=subset.parse_unicodes(blocks))
    subsetter.subset(font)
    subset.save_font(font, str(target), options)


def write_fonts(app, exception):
    if exception is None and app.builder.format == "html":
        static = Path(app.outdir, "_static")
        stix = TTFont(distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf"))
        # Else an index hangs lower the deeper its letter goes, and a prime is small and far up.
        stix["MATH"].table.MathConstants.SubscriptBaselineDropMin.Value = 0
        for table in stix["cmap"].tables:
            table.cmap[0x2032] = "minute.ssty"
        cut(stix, BLOCKS, static / "formulas.woff")
        [icons] = static.rglob("fa-solid-900.ttf")
        cut(TTFont(icons), "F000-F1FF,F303", static / "icons.woff")


def setup(app):
    how = [(partial(write, tag), None) for tag in ("span", "div")]
    app.add_html_math_renderer("mathml", *how)  # beside Sphinx's default, so it is the one taken
    app.connect("build-finished", write_fonts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
