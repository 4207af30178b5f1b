"""Sphinx extension: mend in the built pages what a reader or a screen reader would notice.

Each rule names the fault upstream that it mends. A rule must find something in a build of all
pages, else the build fails: the theme or an extension has changed, and somebody must look again.
"""

import re
from collections import Counter
from pathlib import Path

from PIL import Image
from sphinx.errors import ExtensionError

RULES = {
    # pydata-sphinx-theme: 1.5 MB of icons as a script, beside the font that has the same icons.
    r'<script[^>]*\bsrc="[^"]*fontawesome\.js[^>]*></script>': "",
    # pydata-sphinx-theme: every page waits for scripts before its text is read. An inline script
    # needs the options at once.
    r"<script (?![^>]*defer)(?=[^>]*src=)(?![^>]*documentation_options)": "<script defer ",
    # All extensions: each has a style sheet or two, and a page is not painted before all are there.
    r'(?:<link(?=[^>]*rel="stylesheet")[^>]*href="((?:\.\./)*)_static/[^>]*>\s*)+': (
        r'<link rel="stylesheet" href="\1_static/book.css">\n'
    ),
    # sphinx-book-theme: a click on "download" shows the notebook as text instead of saving it.
    r'target="_blank"(?=\s*class="btn btn-sm btn-download-source)': 'target="_blank" download',
    # pydata-sphinx-theme: the button of the search is read out without the keys that it shows.
    r'title="Search" aria-label="Search"(?= data-bs)': 'title="Search"',
    # myst-nb: "Toggle hidden content" is read out instead of the title of the folded cell.
    r'<summary aria-label="Toggle hidden content">': "<summary>",
    # docutils: a bibliography is a list without items, and its entries have a role that is no more.
    r'<div role="list" class="citation-list">': '<div class="citation-list">',
    r' role="doc-biblioentry"': "",
    # sphinx-book-theme: the logo and the list of chapters are in no landmark.
    r'<div id="pst-primary-sidebar"': r'\g<0> role="navigation" aria-label="Book"',
}
SHEETS = r'<link(?=[^>]*rel="stylesheet")[^>]*href="([^"?]*)'
# pydata-sphinx-theme: every page fetches 210 kB for a search that only one page offers.
SEARCH = r'<script[^>]*\bsrc="[^"]*(?:searchtools|language_data|searchindex)\.js[^>]*></script>'
# Sphinx has no place for find.js, which comes between its own scripts of the search.
FIND = r'<script[^>]*\bsrc="_static/searchtools\.js[^>]*></script>'
FOUND = r'\g<0><script defer src="_static/treated.js"></script>'
FOUND += '<script defer src="_static/find.js"></script>'
# myst-nb: images come without their size, so that the text jumps when they are there.
PICTURE = r'(?m)^<img (?P<rest>[^>]*src="(?P<src>[^"]*/_images/[^"]*\.png)") />'


def with_size(tag, folder):
    """In a box that scrolls on a phone. Matplotlib states the resolution: an inch is 110 pixels."""
    with Image.open(folder / tag["src"]) as image:
        if "dpi" not in image.info:
            return tag[0]
        inches = [pixels / image.info["dpi"][0] for pixels in image.size]
    width, height = (round(110 * length) for length in inches)
    size = f'loading="lazy" width="{width}" height="{height}" style="--inches: {inches[0]:.2f}"'
    return f'<div class="picture"><img {size} {tag["rest"]}></div>'


def sheet(path, static):
    """A style sheet with those that it imports. Addresses as seen from the folder static."""
    text = path.read_text(encoding="utf-8").replace('@charset "UTF-8";', "")
    text = re.sub(r"url\((?=[\w.])(?!data:)", f"url({path.parent.relative_to(static)}/", text)
    return re.sub(r'@import "([^"]*)";', lambda name: sheet(path.parent / name[1], static), text)


def mend(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out, static, found = Path(app.outdir), Path(app.outdir, "_static"), Counter()
    sheets = re.findall(SHEETS, (out / "search.html").read_text(encoding="utf-8"))
    text = "".join(sheet(out / name, static) for name in sheets)
    (static / "book.css").write_text(text, encoding="utf-8")
    for page in out.rglob("*.html"):
        rules = {FIND: FOUND} if page.name == "search.html" else {SEARCH: ""}
        rules |= RULES | {PICTURE: lambda tag, folder=page.parent: with_size(tag, folder)}
        text = page.read_text(encoding="utf-8")
        for pattern, new in rules.items():
            text, times = re.subn(pattern, new, text)
            found[pattern] += times
        text = text.replace(' loading="lazy"', "", 1)  # the first is on the first screen
        page.write_text(text, encoding="utf-8")
    if missing := [pattern for pattern, times in found.items() if not times]:
        raise ExtensionError(f"Has the theme changed? In no page of the whole book is: {missing}")


def setup(app):
    app.connect("build-finished", mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
