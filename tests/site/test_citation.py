"""What the book says of itself to others: sitemap, address, the page for what is not there."""

from types import SimpleNamespace
from xml.etree import ElementTree

import build_citation
import pytest
from bs4 import BeautifulSoup
from docutils.core import publish_doctree

ADDRESS = "https://example.org/slnp"
PAGES = {"book/index", "book/01-toy"}


def sphinx(folder, address):
    """As much of Sphinx as the extension asks for."""
    return SimpleNamespace(
        builder=SimpleNamespace(name="html"),
        config=SimpleNamespace(html_baseurl=address),
        env=SimpleNamespace(found_docs=PAGES),
        outdir=folder,
    )


@pytest.mark.parametrize("end", ["", "/"])
def test_with_an_address_there_is_a_sitemap_of_all_pages(tmp_path, end):
    build_citation.write_pages(sphinx(tmp_path, ADDRESS + end), None)
    places = ElementTree.parse(tmp_path / "sitemap.xml").findall(".//{*}url/{*}loc")
    assert {place.text for place in places} == {f"{ADDRESS}/{name}.html" for name in PAGES}
    lost = BeautifulSoup((tmp_path / "404.html").read_text(), "html.parser")
    assert lost.a["href"] == f"{ADDRESS}/"


def test_without_an_address_there_is_none(tmp_path):
    build_citation.write_pages(sphinx(tmp_path, ""), None)
    assert [path.name for path in tmp_path.iterdir()] == ["404.html"]


@pytest.mark.parametrize("address", ["", ADDRESS])
def test_a_shared_page_names_its_address_if_there_is_one(tmp_path, address):
    context = {"title": "Three &amp; more <em>fish</em>"}
    told = "A sentence that is long enough to stand for the whole of a chapter, and then some."
    build_citation.describe(
        sphinx(tmp_path, address), "book/01-toy", "", context, publish_doctree(told)
    )
    tags = BeautifulSoup(context["metatags"], "html.parser").find_all("meta", property=True)
    said = {tag["property"]: tag["content"] for tag in tags}
    assert said["og:title"] == "Three & more fish"
    assert said["og:description"] == told
    assert said.get("og:url") == (f"{address}/book/01-toy.html" if address else None)
