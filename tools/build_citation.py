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

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{head}
<style>body {{ font: 1.1rem/1.5 sans-serif; margin: 15vh auto; max-width: 34rem; padding: 0 1rem }}
:root {{ color-scheme: light dark }}</style>
</head>
<body><main><h1>{title}</h1>
{body}
</main></body>
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
    book = citation()
    title = html.unescape(re.sub(r"<[^>]*>", "", context.get("title", ""))) or book["title"]
    tags = {"og:title": title, "og:type": "article", "og:site_name": book["title"]}
    told = book["abstract"] if pagename == LANDING or doctree is None else description(doctree)
    told = " ".join(told.split())
    if app.config.html_baseurl:
        base = app.config.html_baseurl.rstrip("/")
        tags |= {"og:url": f"{base}/{pagename}.html", "og:image": f"{base}/_images/landing.png"}
    lines = [f'<meta property="{key}" content="{html.escape(tags[key])}">' for key in tags]
    named = [("description", told or book["title"])]
    if pagename == LANDING:
        named += [("citation_title", book["title"])]
        named += [("citation_author", author) for author in authors(book)]
        named += [("citation_publication_date", str(book["date-released"]).replace("-", "/"))]
    lines += [f'<meta name="{key}" content="{html.escape(text)}">' for key, text in named]
    lines += [f'<meta property="og:description" content="{html.escape(told)}">']
    context["metatags"] = context.get("metatags", "") + "\n" + "\n".join(lines)


def write_pages(app, exception):
    """The page at the root, which leads to the landing page; the page for what is not there."""
    if exception is not None or app.builder.name != "html":
        return
    out, base = Path(app.outdir), app.config.html_baseurl.rstrip("/")
    title = citation()["title"]
    link = f'<a href="{{}}">{title}</a>'
    root = PAGE.format(
        title=title,
        head=f'<meta http-equiv="refresh" content="0; url={LANDING}.html">',
        body=f"<p>The book begins here: {link.format(LANDING + '.html')}.</p>",
    )
    (out / "index.html").write_text(root, encoding="utf-8")
    lost = PAGE.format(
        title="This page is not in the book",
        head='<meta name="robots" content="noindex">',
        body=f"<p>The book begins here: {link.format(base + '/')}. Its search finds words, formulas"
        " by their number, and functions by their name.</p>",
    )
    (out / "404.html").write_text(lost, encoding="utf-8")
    if base:
        pages = [f"<url><loc>{base}/{name}.html</loc></url>" for name in sorted(app.env.found_docs)]
        space = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<urlset {space}>", *pages, "</urlset>"]
        (out / "sitemap.xml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def setup(app):
    app.connect("config-inited", announce)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_pages, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
