"""The whole book as one PDF, printed for this test: bookmarks, page numbers, links.

`make browser` runs this after the book is built.
"""

import shutil
import subprocess
import sys
import unicodedata
from functools import cache

import author_pdf as pdf
import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

# Printed once, so its tests go to the same worker.
pytestmark = [pytest.mark.whole, pytest.mark.xdist_group("pdf")]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    if not (pdf.HTML / "book").exists():
        pytest.skip("the book is not built: run make book")
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    subprocess.run([sys.executable, pdf.__file__, path], check=True)
    return PdfReader(path)


def bookmarks(reader, outline=None):
    """(title, number of its page) of all bookmarks, in order."""
    for entry in reader.outline if outline is None else outline:
        if isinstance(entry, list):
            yield from bookmarks(reader, entry)
        else:
            yield entry.title, reader.get_destination_page_number(entry)


def links(reader):
    for number, page in enumerate(reader.pages):
        for link in page.get("/Annots", []):
            if link.get_object()["/Subtype"] == "/Link":
                yield number, link.get_object()


@cache
def soup(name):
    return BeautifulSoup((pdf.HTML / f"{name}.html").read_bytes(), "html.parser")


def heading(name):
    return soup(name).title.text.rpartition(" \u2014 ")[0]


def numbers(book):
    """What a link calls a page -> its number."""
    return {page.indirect_reference.idnum: number for number, page in enumerate(book.pages)}


def chapter_of(book):
    """Number of a page -> name of the chapter it belongs to."""
    first = dict(bookmarks(book))
    starts = {first[heading(name)]: name for _, name in pdf.contents()}
    return [starts[max((s for s in starts if s <= n), default=1)] for n in range(len(book.pages))]


def letters(text):
    """Without spaces, and with fi as two letters."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def test_every_page_of_the_book_has_a_bookmark_that_leads_to_its_title(book):
    order = list(pdf.contents())
    found = dict(bookmarks(book))
    assert {heading(name) for _, name in order} <= set(found)
    assert {caption for caption, _ in order if caption} <= set(found)
    assert list(found.values()) == sorted(found.values())
    for _, name in order:
        text = book.pages[found[heading(name)]].extract_text()
        assert letters(heading(name)) in letters(text), name


def test_every_page_but_the_title_has_its_number(book):
    assert len(book.pages) > 200
    for number, page in enumerate(book.pages[1:], start=2):
        assert page.extract_text().split()[-1] == str(number)


def test_links_lead_to_a_page_or_to_the_web(book):
    number_of = numbers(book)
    chapter, inside, nowhere = chapter_of(book), 0, set()
    for number, link in links(book):
        address = link.get("/A", {}).get("/URI", "")
        assert not address or address.startswith(("http", "mailto:")), (number + 1, address)
        if "/Dest" in link:
            assert link["/Dest"][0].idnum in number_of, number + 1
            inside += 1
        elif not address:
            nowhere.add(chapter[number])
    assert inside > 500
    assert nowhere <= {"book/index", "book/assignments"}  # pictures and notebooks to download
