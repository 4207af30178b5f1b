"""What is trimmed and mended after a build must be there to be trimmed and mended."""

from types import SimpleNamespace

import build_search
import build_trim_and_mend
import pytest
from PIL import Image
from sphinx.errors import ExtensionError

# As the theme and the extensions write it, one of each.
PARTS = (
    '<script src="../_static/scripts/fontawesome.js?digest=1"></script>',
    '<script async="async" src="../_static/sphinx-thebe.js?v=1"></script>',
    '<script>const THEBE_JS_URL = "https://elsewhere"; const thebe_selector = ""</script>',
    '<script type="text/x-thebe-config">\n{}\n</script>',
    "<script>kernelName = 'python3'</script>",
    '<link rel="stylesheet" type="text/css" href="../_static/sphinx-thebe.css?v=1" />',
    '<div id="jb-print-docs-body"><h1>Title</h1></div><div id="searchbox"></div>',
    '<script src="../_static/searchtools.js?v=1"></script>',
    '<script src="../_static/language_data.js?v=1"></script>',
    '<script src="../_static/searchindex.js?v=1"></script>',
    '<a target="_blank"\n   class="btn btn-sm btn-download-source-button">',
    '<summary aria-label="Toggle hidden content">',
    '<button title="Search" aria-label="Search" data-bs-placement="bottom">',
    '<div role="list" class="citation-list">',
    '<div class="citation" role="doc-biblioentry">',
    '<div id="pst-primary-sidebar" class="bd-sidebar">',
    '<main id="main-content" class="bd-main" role="main">',
    '<meta name="viewport" content="width=device-width, initial-scale=1" />',
    '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
    '<script src="../_static/read.js"></script>',
    '<section class="solution" id="solution-content">',
    '<div class="proof admonition" id="proof">',
    '<p class="collapsed admonition-title">Show</p>',
    '<p><ul class="simple"><li>one</li></ul></p>',
    '<button class="btn btn-sm" title="Download">',
    '\n<img alt="A figure" src="../_images/figure.png" />',
    '<script>window.MathJax = {"options": {}}</script>',
    '<script defer="defer" src="../_static/mathjax/tex-chtml.js"></script>',
    '<span class="math notranslate nohighlight">\\(\\mathbf x_i &lt; \\gamma\\)</span>',
)
FILES = ("base.css.map", "sphinx-thebe.js", "fontawesome.js")


@pytest.fixture
def built(tmp_path):
    """A book of one page, before it is trimmed and mended."""
    pages, static = tmp_path / "book", tmp_path / "_static"
    for folder in (pages, static, tmp_path / "_images"):
        folder.mkdir()
    (pages / "page.html").write_text("".join(PARTS))
    Image.new("RGB", (20, 10)).save(tmp_path / "_images" / "figure.png", dpi=(100, 100))
    for name in FILES:
        (static / name).touch()
    for name in [*build_trim_and_mend.KEPT_OF_MATHJAX, "unused.js"]:
        (static / "mathjax" / name).mkdir(parents=True)
        (static / "mathjax" / name / "file").touch()
    return tmp_path


def trim_and_mend(folder):
    app = SimpleNamespace(outdir=folder, builder=SimpleNamespace(format="html"))
    build_trim_and_mend.trim_and_mend(app, None)


def test_what_no_page_needs_is_taken_away(built):
    trim_and_mend(built)
    page = (built / "book" / "page.html").read_text()
    for gone in ("thebe", "fontawesome", "jb-print", "searchindex", "viewport", "<p><ul", "athJax"):
        assert gone not in page
    assert 'width="22" height="11"' in page  # 20 of 100 pixels an inch, at 110 an inch
    assert 'style="--ems: 2">' in page  # x, i, less than, gamma: four signs
    assert not [name for name in FILES if (built / "_static" / name).exists()]
    assert not (built / "_static" / "mathjax" / "unused.js").exists()


@pytest.mark.parametrize("part", PARTS)
def test_a_rule_that_finds_nothing_fails_the_build(built, part):
    page = built / "book" / "page.html"
    page.write_text(page.read_text().replace(part, ""))
    with pytest.raises(ExtensionError, match="Has the theme changed"):
        trim_and_mend(built)


@pytest.mark.parametrize("name", [*FILES, "mathjax/input/tex.js/file"])
def test_a_file_that_is_not_there_fails_the_build(built, name):
    (built / "_static" / name).unlink()
    if name.startswith("mathjax"):
        (built / "_static" / name).parent.rmdir()
    with pytest.raises(ExtensionError, match="Has the theme changed"):
        trim_and_mend(built)


def test_a_search_page_without_sphinx_scripts_fails_the_build(tmp_path, monkeypatch):
    (tmp_path / "_static").mkdir()
    (tmp_path / "search.html").write_text("<html></html>")
    monkeypatch.setattr(build_search, "treated", lambda env, lang: {})
    builder = SimpleNamespace(name="html", indexer=SimpleNamespace(lang=None))
    app = SimpleNamespace(outdir=tmp_path, builder=builder, env=None)
    with pytest.raises(ExtensionError, match="searchtools"):
        build_search.equip_search(app, None)
