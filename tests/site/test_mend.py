"""What is mended after a build must be there to be mended."""

from types import SimpleNamespace

import build_mend
import pytest
from PIL import Image
from sphinx.errors import ExtensionError

# As the theme and the extensions write it, one of each.
PARTS = (
    '<link rel="stylesheet" type="text/css" href="../_static/deep/theme.css?v=1" />',
    '<script src="../_static/scripts/fontawesome.js?digest=1"></script>',
    '<script src="../_static/read.js"></script>',
    '<script src="../_static/searchtools.js?v=1"></script>',
    '<a target="_blank"\n   class="btn btn-sm btn-download-source-button">',
    '<button title="Search" aria-label="Search" data-bs-placement="bottom">',
    '<summary aria-label="Toggle hidden content">',
    '<div role="list" class="citation-list">',
    '<div class="citation" role="doc-biblioentry">',
    '<div id="pst-primary-sidebar" class="bd-sidebar">',
    '\n<img alt="A figure" src="../_images/figure.png" />',
)
SEARCH = PARTS[0].replace("../", "") + '<script defer src="_static/searchtools.js"></script>'


def mended(folder, parts):
    """The page with these parts, in a book of one page and the search."""
    for name in ("book", "_static/deep", "_images"):
        (folder / name).mkdir(parents=True)
    (folder / "_static" / "deep" / "theme.css").write_text('@import "../a.css"; b { src: url(x) }')
    (folder / "_static" / "a.css").write_text("a { src: url(y) }")
    Image.new("RGB", (20, 10)).save(folder / "_images" / "figure.png", dpi=(100, 100))
    (folder / "search.html").write_text(SEARCH)
    (folder / "book" / "page.html").write_text("".join(parts))
    app = SimpleNamespace(outdir=folder, builder=SimpleNamespace(format="html"))
    build_mend.mend(app, None)
    return (folder / "book" / "page.html").read_text()


def test_a_page_is_mended(tmp_path):
    page = mended(tmp_path, PARTS)
    assert 'width="22" height="11"' in page  # 20 of 100 pixels an inch, at 110 an inch
    for gone in ("fontawesome", "searchtools", "Toggle", "theme.css"):
        assert gone not in page
    style = (tmp_path / "_static" / "book.css").read_text()
    assert "".join(style.split()) == "a{src:url(deep/../y)}b{src:url(deep/x)}"
    assert "find.js" in (tmp_path / "search.html").read_text()


@pytest.mark.parametrize("part", PARTS[1:])
def test_a_rule_that_finds_nothing_fails_the_build(tmp_path, part):
    with pytest.raises(ExtensionError, match="Has the theme changed"):
        mended(tmp_path, [other for other in PARTS if other != part])
