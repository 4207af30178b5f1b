"""Sphinx extension: how the book is cited, described, listed and missed.

CITATION.cff is the one source of title, authors, version and date: this file puts them on the
landing page ("How to cite"), into the footer and into the head of the pages. With an address
(`html: baseurl` in _config.yml) there are a sitemap and absolute links for those who share a page.
"""

import html
import re
from pathlib import Path

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
<p>The book begins here: <a href="{start}">{title}</a>. Its search finds words, formulas by their
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
        + (f" <{config.html_baseurl}>." if config.html_baseurl else "")
        + f"\n\nAnd the paper: {', '.join(authors(paper))} ({paper['year']})."
        f" *{paper['title']}*. {paper['identifiers'][0]['value']}."
        " `CITATION.cff` in the repository has both for your reference manager."
    )
    config.html_theme_options["extra_footer"] = f"<p>Version {book['version']}</p>"


def description(doctree):
    """The first sentences of the text that hold no formula."""
    for paragraph in doctree.findall(nodes.paragraph):
        if next(paragraph.findall(nodes.math), None) is None and len(paragraph.astext()) > 60:
            text = " ".join(paragraph.astext().split())
            return text if len(text) <= LONGEST else text[:LONGEST].rpartition(" ")[0] + " …"
    return ""


def describe(app, pagename, templatename, context, doctree):
    """Description, OpenGraph and, on the landing page, the tags that reference managers read."""
    book, base = citation(), app.config.html_baseurl.rstrip("/")
    title = html.unescape(re.sub(r"<[^>]*>", "", context.get("title", ""))) or book["title"]
    told = book["abstract"] if pagename == LANDING or doctree is None else description(doctree)
    told = " ".join(told.split()) or book["title"]
    tags = {"name": [("description", told)]}
    tags["property"] = [("og:title", title), ("og:description", told)]
    if base:
        tags["property"] += [("og:url", f"{base}/{pagename}.html")]
        tags["property"] += [("og:image", f"{base}/_images/landing.png")]
    if pagename == LANDING:
        date = str(book["date-released"]).replace("-", "/")
        tags["name"] += [("citation_title", book["title"]), ("citation_publication_date", date)]
        tags["name"] += [("citation_author", author) for author in authors(book)]
    for kind, pairs in tags.items():
        for key, text in pairs:
            meta = f'\n<meta {kind}="{key}" content="{html.escape(text)}">'
            context["metatags"] = context.get("metatags", "") + meta


def write_pages(app, exception):
    """The page for what isn't there. The list of pages, if they have an address."""
    if exception is not None or app.builder.name != "html":
        return
    out, base = Path(app.outdir), app.config.html_baseurl.rstrip("/")
    (out / "404.html").write_text(LOST.format(title=citation()["title"], start=base + "/"))
    if base:
        pages = [f"<url><loc>{base}/{name}.html</loc></url>" for name in sorted(app.env.found_docs)]
        space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        lines = [f"<urlset {space}>", *pages, "</urlset>"]
        (out / "sitemap.xml").write_text("\n".join(lines))


def setup(app):
    app.connect("config-inited", announce)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_pages, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
