"""Sphinx extension: trim the built book of what no page needs, and mend its HTML.

It runs after everything else has been written. What it takes away: the 20 MB of MathJax that no
page asks for, and the tags that fetch it (formulas.js does); all but 256 colours of a figure; the
search index where nobody searches; the source maps; the 1.5 MB icon script (the same icons come as
a 160 kB font with the style sheet); the code that would run cells on a server which this book does
not have; and a second title and contents, for paper only. What it mends: faults in the
HTML of the theme and of the extensions. tests/site/test_browser_pages.py lists what is left.

Whatever is to be taken away or mended must be found at least once in a build of all pages, else the
build fails: the theme or an extension has changed, and somebody must look at the rule again.
"""

import re
from collections import Counter
from functools import partial
from pathlib import Path

from PIL import Image
from sphinx.errors import ExtensionError

KEPT_OF_MATHJAX = {
    "startup.js",
    "core.js",
    "input/tex.js",
    "input/tex/extensions",
    "output/chtml.js",
    "output/chtml/fonts",
    "a11y/assistive-mml.js",
}
UNUSED_FILES = ("*.map", "sphinx-thebe.*", "fontawesome.js*")
UNUSED_TAGS = (
    r'<script[^>]*\bsrc="[^"]*fontawesome\.js[^"]*"[^>]*></script>\s*',
    r'<script[^>]*\bsrc="[^"]*sphinx-thebe\.js[^"]*"[^>]*></script>\s*',
    r"<script>const THEBE_JS_URL.*?</script>\s*",
    r'<script type="text/x-thebe-config">.*?</script>\s*',
    r"<script>kernelName = '[^']*'</script>\s*",
    r'<link[^>]*\bhref="[^"]*sphinx-thebe\.css[^"]*"[^>]*>\s*',
    r"<script>window\.MathJax = .*?</script>\s*",  # formulas.js fetches MathJax
    r'<script[^>]*\bsrc="[^"]*mathjax/[^>]*></script>\s*',
    r'<div id="jb-print-docs-body".*?(?=<div id="searchbox">)',  # for paper only
)
SEARCH_TAGS = tuple(
    rf'<script[^>]*\bsrc="[^"]*{name}\.js[^"]*"[^>]*></script>\s*'
    for name in ("searchtools", "language_data", "searchindex")
)
CELL_IMAGE = r'(?m)^<img (?P<rest>[^>]*src="(?P<src>[^"]*/_images/[^"]*\.png)") />'
INLINE_FORMULA = r'<span class="math notranslate nohighlight">(?P<tex>[^<]*)</span>'
NO_SIGN = r"\\[()]|\\(?:math\w+|text|operatorname|left|right|[td]?frac|sqrt|[,;!])|[{}^_\s]"

# Word for word. A notebook is to be saved, not shown as text. What a screen reader says must
# contain what is seen; a list holds nothing but its items; the logo stands in a landmark.
MENDED = {
    'target="_blank"\n   class="btn btn-sm btn-download-source': (
        'target="_blank" download\n   class="btn btn-sm btn-download-source'
    ),
    '<summary aria-label="Toggle hidden content">': "<summary>",
    'title="Search" aria-label="Search" data-bs': 'title="Search" data-bs',
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    ' role="doc-biblioentry"': "",
    '<div id="pst-primary-sidebar"': (
        '<div id="pst-primary-sidebar" role="navigation" aria-label="Book"'
    ),
    ' class="bd-main" role="main"': ' class="bd-main"',
    '<meta name="viewport" content="width=device-width, initial-scale=1" />': "",
    '<meta name="viewport" content="width=device-width, initial-scale=1"/>': "",
}
# By pattern. Scripts wait until the text has been read, but inline ones need the options at once.
PATTERNS = {
    r"<script (?![^>]*defer)(?=[^>]*src=)(?![^>]*documentation_options)": (
        '<script defer="defer" '
    ),
    r'(<section[^>]*) id="(?:exercise|solution|proof)-content"': r"\1",
    r'<div class="proof admonition" id="proof">': '<div class="proof admonition">',
    r'<p class="(collapsed|expanded) admonition-title">(.*?)</p>': (
        r'<span class="\1 admonition-title">\2</span>'
    ),
    r'<p>(<ul class="simple">(?:(?!</ul>).)*</ul>\s*)</p>': r"\1",
    r"<button (?![^>]*\btype=)": '<button type="button" ',
    r'(<button (?![^>]*aria-label)[^>]*\bbtn-sm\b[^>]*title="([^"]*)")': r'\1 aria-label="\2"',
}


def _trim_static(static, found):
    mathjax = static / "mathjax"
    for path in sorted(mathjax.rglob("*")):
        name = path.relative_to(mathjax).as_posix()
        kept = [k for k in KEPT_OF_MATHJAX if name == k or name.startswith(k + "/")]
        found.update(kept)
        if path.is_file() and not kept:
            path.unlink()
    for path in sorted(mathjax.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for pattern in UNUSED_FILES:
        for path in list(static.rglob(pattern)):
            found[pattern] += 1
            path.unlink()


def _with_fewer_colours(path):
    """A figure of 256 colours: under half of the bytes, as sharp, and to the eye the same."""
    with Image.open(path) as image:
        if image.mode == "P":
            return
        few = image.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE
        )
        few.save(path, dpi=image.info.get("dpi"))


def _with_size(tag, folder):
    """An image of a cell with its size, so that the text does not jump when it comes, in a box that
    scrolls on a phone. Matplotlib states the resolution: an inch is 110 pixels wide on the page.
    """
    with Image.open(folder / tag["src"]) as image:
        if "dpi" not in image.info:
            return tag[0]
        inches = [pixels / image.info["dpi"][0] for pixels in image.size]
    width, height = (round(110 * length) for length in inches)
    size = f'width="{width}" height="{height}" style="--inches: {inches[0]:.2f}"'
    return f'<div class="picture"><img {size} {tag["rest"]}></div>'


def _with_place(tag):
    """A formula in a line with about the width that it will have once it is typeset, so that the
    text does not jump: custom.css holds the place. Half an em a sign; a command is one sign.
    """
    signs = re.sub(r"\\[a-zA-Z]+|&\w+;", "x", re.sub(NO_SIGN, "", tag["tex"]))
    return tag[0].replace(">", f' style="--ems: {len(signs) / 2:g}">', 1)


def launch_only_with_address(app, config):
    """No launch button unless `repository: url` in _config.yml says where the repository is."""
    options = config.html_theme_options
    if not options.get("repository_url"):
        options.pop("repository_url", None)
        options.pop("launch_buttons", None)


def _replace(text, rules, found):
    """The text with every pattern replaced; `found` counts how often each was there."""
    for pattern, new in rules.items():
        text, times = re.subn(pattern, new, text, flags=re.DOTALL)
        found[pattern] += times
    return text


def _mend(page, found):
    text = page.read_text(encoding="utf-8")
    text = _replace(text, dict.fromkeys(UNUSED_TAGS, ""), found)
    if page.name != "search.html":
        text = _replace(text, dict.fromkeys(SEARCH_TAGS, ""), found)
    for old, new in MENDED.items():
        found[old] += text.count(old)
        text = text.replace(old, new)
    places = {CELL_IMAGE: partial(_with_size, folder=page.parent), INLINE_FORMULA: _with_place}
    page.write_text(_replace(text, PATTERNS | places, found), encoding="utf-8")


def trim_and_mend(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    found = Counter(dict.fromkeys([*KEPT_OF_MATHJAX, *UNUSED_FILES], 0))
    _trim_static(out / "_static", found)
    for picture in (out / "_images").glob("*.png"):
        _with_fewer_colours(picture)
    for page in out.rglob("*.html"):
        _mend(page, found)
    missing = sorted(what for what, times in found.items() if not times)
    if missing:
        raise ExtensionError(
            "Has the theme changed? In no file of the built book was found what"
            f" tools/build_trim_and_mend.py looks for (make book builds all pages): {missing}"
        )


def setup(app):
    app.connect("config-inited", launch_only_with_address)
    app.connect("build-finished", trim_and_mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
