"""Print the built book into one PDF: title page, bookmarks, page numbers, links between chapters.

Chromium prints each page of the table of contents as the style sheet says for paper, and pypdf puts
the parts together. Chromium writes a link to another page as an address and gives a position
only to what is linked from the same page, so before a page is printed it gets an unseen link to
each place that other pages point to, and afterwards addresses are turned into positions.
Usage: python tools/author_pdf.py [file]    (after make book, with chromium)
Without the name of a file the PDF goes beside the pages, and the landing page offers it.
"""

import io
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, FloatObject, NameObject, NullObject

ROOT = Path(__file__).parent.parent
HTML = ROOT / "_build" / "html"
PDF = HTML / "slnp-step-by-step.pdf"
OFFER = "<!-- the place of the PDF -->"

ANCHORS = """names => {
  dispatchEvent(new Event("beforeprint"));
  const box = document.createElement("div");
  box.style.cssText = "font-size: 1px; height: 0; overflow: hidden";
  for (const name of names) {
    const link = document.createElement("a");
    link.href = "#" + name;
    link.textContent = ".";
    box.append(link);
  }
  document.querySelector("article").prepend(box);
}"""
TITLE_PAGE = """<html lang="en"><title>{title}</title><style>
@page {{ size: A4; margin: 30mm 25mm }} body {{ font: 13pt/1.5 sans-serif }}
h1 {{ font-size: 34pt; margin-top: 50mm }} </style>
<h1>{title}</h1><p>{promise}</p><p>{paper}</p><p style="margin-top: 60mm">{imprint}</p></html>"""
NUMBERS = """<html><style>@page { size: A4; margin: 0 } body { margin: 0; font: 9pt sans-serif }
div { box-sizing: border-box; break-after: page; height: 296mm; padding-top: 286mm;
text-align: center }</style>"""


def contents():
    """(caption of the part or None, name of the page) in the order of the book."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    yield None, toc["root"]
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            yield part["caption"], chapter["file"]


def address(name):
    return (HTML / f"{name}.html").as_uri()


def linked(names):
    """address -> the anchors on that page that any page of the book links to."""
    found = {address(name): set() for name in names}
    for name in names:
        page = BeautifulSoup((HTML / f"{name}.html").read_bytes(), "html.parser")
        for link in page.select("article a[href]"):
            target, anchor = urldefrag(urljoin(address(name), link["href"]))
            if anchor and target in found:
                found[target].add(unquote(anchor))
    return found


def title_page():
    page = BeautifulSoup((HTML / "book" / "index.html").read_bytes(), "html.parser")
    return TITLE_PAGE.format(
        title=page.select_one("article h1").find(string=True, recursive=False),
        promise=page.select_one(".promise").get_text(" ", strip=True),
        paper=page.select_one(".paper").get_text(" ", strip=True),
        imprint=page.select_one("#how-to-cite p").get_text(" ", strip=True),
    )


def printed(names):
    """The title page and each page of the book as PDF, and sheets with nothing but numbers."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = chromium.new_page(viewport={"width": 1280, "height": 900})

        def as_pdf():
            return PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True)))

        page.set_content(title_page())
        parts = [as_pdf()]
        anchors = linked(names)
        for name in names:
            page.goto(address(name), wait_until="load")
            page.evaluate(ANCHORS, sorted(anchors[address(name)]))
            parts.append(as_pdf())
            print(f"{len(parts[-1].pages):4} pages  {name}", file=sys.stderr)
        total = sum(len(part.pages) for part in parts)
        page.set_content(NUMBERS + "".join(f"<div>{n + 1}</div>" for n in range(1, total)))
        numbers = as_pdf()
        chromium.close()
    return parts, numbers


def places(parts, names):
    """address, with or without an anchor -> (number of the page in the whole, its height there)."""
    found, first = {}, len(parts[0].pages)
    for name, part in zip(names, parts[1:], strict=True):
        found[address(name)] = (first, None)
        for anchor, place in part.named_destinations.items():
            number = first + part.get_destination_page_number(place)
            found[f"{address(name)}#{unquote(anchor.lstrip('/'))}"] = (number, place.top)
        first += len(part.pages)
    return found


def target_of(link, base):
    """Where a link on a page that came from the address `base` leads, as an address."""
    if "/Dest" in link:
        return f"{base}#{unquote(str(link['/Dest']).lstrip('/'))}"
    return unquote(link.get("/A", {}).get("/URI", ""))


def relink(writer, page, base, place_of):
    """Make the links of a page that came from the address `base` lead to places in the PDF.

    Those to a file that isn't in the PDF, such as a notebook to download, lead nowhere.
    """
    for link in (annotation.get_object() for annotation in page.get("/Annots", [])):
        target = target_of(link, base)
        if target in place_of:
            number, top = place_of[target]
            where = [writer.pages[number].indirect_reference, NameObject("/XYZ"), NullObject()]
            where += [NullObject() if top is None else FloatObject(top), NullObject()]
            link[NameObject("/Dest")] = ArrayObject(where)
        if target.startswith("file:"):
            link.pop("/A", None)


def bind(order, parts, numbers):
    """One PDF with page numbers, bookmarks and links."""
    names = [name for _, name in order]
    writer = PdfWriter()
    came_from = [None] * len(parts[0].pages)
    for part in parts:
        for page in part.pages:
            writer.add_page(page)
    for name, part in zip(names, parts[1:], strict=True):
        came_from += [address(name)] * len(part.pages)
    place_of = places(parts, names)
    captions = {}
    for caption, name in order:
        first = place_of[address(name)][0]
        if caption and caption not in captions:
            captions[caption] = writer.add_outline_item(title=caption, page_number=first)
        heading = BeautifulSoup((HTML / f"{name}.html").read_bytes(), "html.parser").title.text
        title = heading.rpartition(" \u2014 ")[0]
        parent = captions.get(caption)
        writer.add_outline_item(title=title, page_number=first, parent=parent)
    for number, (page, base) in enumerate(zip(writer.pages, came_from, strict=True)):
        if base:
            page.merge_page(numbers.pages[number - len(parts[0].pages)])
            relink(writer, page, base, place_of)
        page.compress_content_streams()
    writer.add_metadata({"/Title": "SLNP, step by step", "/Author": "The SLNP-edu authors"})
    writer.compress_identical_objects()
    return writer


def offer():
    """A link on the landing page, which is there only if the PDF is."""
    landing = HTML / "book" / "index.html"
    size = f"{len(PdfReader(PDF).pages)} pages, {PDF.stat().st_size / 1e6:.0f} MB"
    link = f'<p class="pdf"><a href="../{PDF.name}">The whole book as a PDF</a> ({size})</p>'
    text = landing.read_text(encoding="utf-8")
    landing.write_text(text.replace(OFFER, link), encoding="utf-8")


def main(path=PDF):
    order = list(contents())
    parts, numbers = printed([name for _, name in order])
    bind(order, parts, numbers).write(path)
    if path == PDF:
        offer()
    print(f"{path}: {len(PdfReader(path).pages)} pages, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
