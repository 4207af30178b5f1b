"""Sphinx extension: the built book is light, asks no other host for anything, and prints well.

It runs after everything else has been written. What it takes away: the 20 MB of MathJax that no
page asks for, the source maps, the 1.5 MB icon script (the same icons come as a 160 kB font with
the style sheet), and the code that would run cells on a server which this book does not have.
"""

import re
from pathlib import Path

KEPT_OF_MATHJAX = {
    "tex-chtml.js",
    "output/chtml/fonts",
    "input/tex/extensions",
    "a11y",  # the expression explorer, which a reader can switch on from the menu of an equation
    "sre/mathmaps/base.json",
    "sre/mathmaps/en.json",
    "sre/mathmaps/nemeth.json",
}
UNUSED_TAGS = re.compile(
    r"""<script[^>]*\bsrc="[^"]*(?:fontawesome|sphinx-thebe)\.js[^"]*"[^>]*></script>\s*
    |<script>const\ THEBE_JS_URL.*?</script>\s*
    |<script\ type="text/x-thebe-config">.*?</script>\s*
    |<script>kernelName\ =\ '[^']*'</script>\s*
    |<link[^>]*\bhref="[^"]*sphinx-thebe\.css[^"]*"[^>]*>\s*""",
    re.VERBOSE | re.DOTALL,
)

# Scripts wait until the text has been read; inline ones need the options at once.
NOT_DEFERRED = re.compile(r"<script (?![^>]*defer)(?=[^>]*src=)(?![^>]*documentation_options)")

# MathJax begins once the text has been painted; a page in the background is not painted, so not
# later than after 0.2 s. A notebook is to be saved, not shown as text. What a screen reader
# says must contain what is seen; a list holds nothing but its items.
MENDED = {
    'window.MathJax = {"options"': """window.MathJax = {"startup": {pageReady: () =>
      new Promise(go => { requestAnimationFrame(() => setTimeout(go)); setTimeout(go, 200); })
        .then(() => MathJax.startup.defaultPageReady())}, "options\"""",
    'target="_blank"\n   class="btn btn-sm btn-download-source': (
        'target="_blank" download\n   class="btn btn-sm btn-download-source'
    ),
    '<summary aria-label="Toggle hidden content">': "<summary>",
    'title="Search" aria-label="Search" data-bs': 'title="Search" data-bs',
    '<div role="list" class="citation-list">': '<div class="citation-list">',
    ' role="doc-biblioentry"': "",
}


def _trim_static(static):
    mathjax = static / "mathjax"
    for path in sorted(mathjax.rglob("*")):
        name = path.relative_to(mathjax).as_posix()
        kept = any(name == k or name.startswith(k + "/") for k in KEPT_OF_MATHJAX)
        if path.is_file() and not kept:
            path.unlink()
    for path in sorted(mathjax.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    for pattern in ("*.map", "sphinx-thebe.*", "fontawesome.js*"):
        for path in list(static.rglob(pattern)):
            path.unlink()


def launch_only_with_address(app, config):
    """No launch button unless `repository: url` in _config.yml says where the repository is."""
    options = config.html_theme_options
    if not options.get("repository_url"):
        options.pop("repository_url", None)
        options.pop("launch_buttons", None)


def lighten(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    _trim_static(out / "_static")
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = UNUSED_TAGS.sub("", text)
        text = NOT_DEFERRED.sub('<script defer="defer" ', text)
        for old, new in MENDED.items():
            text = text.replace(old, new)
        page.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("config-inited", launch_only_with_address)
    app.connect("build-finished", lighten, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
