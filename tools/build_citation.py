"""Sphinx extension: how the book is cited, described and missed.

CITATION.cff is the one source of title, authors, version and date: this file puts them on the
landing page ("How to cite"), into the footer and into the head of the pages.
"""

import html
from pathlib import Path
from textwrap import shorten

import yaml
from docutils import nodes

ROOT = Path(__file__).parent.parent
LANDING = "book/index"
LONGEST = 160  # characters of a description that search engines show

LOST = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>This page is not in the book</title><link rel="icon" href="data:,">
<style>body {{ font: 1.1rem/1.5 sans-serif; margin: 15vh auto; max-width: 34rem; padding: 0 1rem }}
:root {{ color-scheme: light dark }} a {{ color: inherit }}</style>
<main><h1>This page is not in the book</h1>
<p>The book begins here: <a href="/">{title}</a>. Its search finds words, formulas by their
number, and functions by their name.</p></main>
</html>
"""


def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def authors(work):
    return [
        person.get("name") or f"{person['given-names']} {person['family-names']}"
        for person in work["authors"]
    ]


def announce(app, config):
    """The citation for the landing page, the version for the footer of every page."""
    book = citation()
    paper = book["references"][0]
    year = str(book["date-released"])[:4]
    config.myst_substitutions["citation"] = (
        f"{', '.join(authors(book))} ({year}). *{book['title']}*, version {book['version']}."
        f"\n\nAnd the paper: {', '.join(authors(paper))} ({paper['year']})."
        f" *{paper['title']}*. {paper['identifiers'][0]['value']}."
        " `CITATION.cff` in the repository has both for your reference manager."
    )
    config.html_theme_options["extra_footer"] = f"<p>Version {book['version']}</p>"


def description(doctree):
    """The first sentences of the text that hold no formula."""
    for paragraph in doctree.findall(nodes.paragraph):
        if next(paragraph.findall(nodes.math), None) is None and len(paragraph.astext()) > 60:
            return shorten(paragraph.astext(), LONGEST, placeholder=" …")
    return ""


def describe(app, pagename, templatename, context, doctree):
    """A description and, on the landing page, the tags that reference managers read."""
    book = citation()
    told = book["abstract"] if pagename == LANDING or doctree is None else description(doctree)
    tags = [("description", " ".join(told.split()) or book["title"])]
    if pagename == LANDING:
        date = str(book["date-released"]).replace("-", "/")
        tags += [("citation_title", book["title"]), ("citation_publication_date", date)]
        tags += [("citation_author", author) for author in authors(book)]
    for name, text in tags:
        meta = f'\n<meta name="{name}" content="{html.escape(text)}">'
        context["metatags"] = context.get("metatags", "") + meta


def write_lost(app, exception):
    """The page for what isn't there."""
    if exception is None and app.builder.name == "html":
        Path(app.outdir, "404.html").write_text(LOST.format(title=citation()["title"]))


def setup(app):
    app.connect("config-inited", announce)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_lost, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
