"""The built book in a real browser: every page, wide and on a phone, light and dark.

`make browser` builds the book and runs this. Needs chromium and playwright; axe-core comes from
npm. What is missing is skipped, and pytest says so. Screenshots: _build/screenshots.
"""

import functools
import http.server
import re
import shutil
import subprocess
import tarfile
import threading
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[2]
HTML = ROOT / "_build" / "html"
SHOTS = ROOT / "_build" / "screenshots"
LOOKS = [(1280, "light"), (1280, "dark"), (390, "dark"), (390, "light")]


def contents(node):
    """Names of all pages in the table of contents."""
    if isinstance(node, dict):
        names = [node[key] for key in ("root", "file") if key in node]
        return names + [name for value in node.values() for name in contents(value)]
    if isinstance(node, list):
        return [name for item in node for name in contents(item)]
    return []


PAGES = contents(yaml.safe_load((ROOT / "_toc.yml").read_text()))
NOTEBOOKS = [page for page in PAGES if (ROOT / f"{page}.ipynb").exists()]
EXTRA = ["search", "genindex", "py-modindex", "prf-prf", "404"]  # made by Sphinx
# One of every kind, which `make browser FEW=1` visits.
FEW = ["index", "01-toy", "05-gamma-step", "10-three-tables", "12-choices", "line-5-w-step"]
FEW += ["teaching", "a4-gamma-step", "speed", "errata", "glossary", "api", "search"]


def marks(name):
    """A page is visited once for all its tests, so they go to the same worker."""
    group = pytest.mark.xdist_group(name)
    return [group] if Path(name).name in FEW else [group, pytest.mark.whole]


every_page = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=marks(name)) for name in PAGES + EXTRA]
)


# ------------------------------------------------------------------------------------ the setting


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files, as everywhere

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def site():
    """The address of the built book, served from this process."""
    if not (HTML / "searchindex.js").exists():
        pytest.skip("the book is not built: run make book")
    handler = functools.partial(Quiet, directory=str(HTML))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The source of axe-core, fetched by npm for this run only; None without it."""
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        return None
    fetch = ["npm", "pack", "axe-core@4", "--silent"]
    try:
        subprocess.run(fetch, cwd=folder, check=True, capture_output=True, timeout=60)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


LEFT_OVER = """() => {
  const article = document.querySelector("main") || document.body, found = [];
  for (const node of article.querySelectorAll(".math"))
    if (!node.querySelector("math")) found.push(node.textContent.slice(0, 80));
  const walk = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    if (/\\\\(mathbf|frac|sum|gamma)|\\$\\$/.test(text.data)
        && !text.parentElement.closest("pre, code, script, style"))
      found.push(text.data.slice(0, 80));
  }
  return found;
}"""
TOO_WIDE = """() => {
  const wide = document.scrollingElement.scrollWidth - innerWidth;
  if (wide <= 0) return [];
  const scrolls = n =>
    n && (getComputedStyle(n).overflowX !== "visible" || scrolls(n.parentElement));
  const out = [...document.querySelectorAll("main *")].filter(
    n => n.getBoundingClientRect().right > innerWidth + 1 && !scrolls(n.parentElement));
  return [wide + " px too wide", ...out.slice(0, 5).map(n => n.outerHTML.slice(0, 120))];
}"""
# Solutions, hints and folded cells, all at once; on screen by hand, on paper by the script.
UNFOLDED = """() => {
  document.querySelectorAll(".toggle-button-hidden").forEach(button => button.click());
  document.querySelectorAll("details").forEach(node => { node.open = true; });
}"""
# Code that does not fit the column. A line is told by its longest.
SCROLLS = """() => [...document.querySelectorAll("main pre")]
  .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
  .map(box => box.textContent.split("\\n").reduce((a, b) => b.length > a.length ? b : a))"""
# On paper nothing scrolls, so nothing may be wider than the page or than the box it is in.
CUT = """() => {
  dispatchEvent(new Event("beforeprint"));
  const cut = [...document.querySelectorAll("main *:not(math *)")].filter(n => n.checkVisibility()
    && (n.getBoundingClientRect().right > innerWidth + 1 || n.scrollWidth > n.clientWidth + 1
        && getComputedStyle(n).overflowX !== "visible"
        && getComputedStyle(n).display !== "inline"));
  dispatchEvent(new Event("afterprint"));
  return cut.map(n => n.outerHTML.slice(0, 160));
}"""
UNNAMED = """() => [...document.querySelectorAll(".solution .toggle-button")]
  .filter(button => !/Solution to Exercise [0-9]+/.test(button.ariaLabel))
  .map(button => button.outerHTML.slice(0, 300))"""
A4 = {"width": 688, "height": 1016}  # CSS pixels between margins of 14 mm
# Thousands of signs and of coloured words in code would take axe minutes. Formulas are left to the
# browser; of each colour of code the first ten words stand for all.
THINNED = """() => {
  document.querySelectorAll("math").forEach(node => node.replaceWith("x"));
  const seen = {};
  for (const word of document.querySelectorAll("pre span"))
    if (!word.children.length && (seen[word.className] = (seen[word.className] || 0) + 1) > 10)
      word.replaceWith(word.textContent);
}"""
AXE = """async only => {
  const rules = only ? {runOnly: {type: "rule", values: only}} : {};
  const found = await axe.run(document, {resultTypes: ["violations"], preload: false, ...rules});
  return found.violations.filter(v => v.impact !== "minor").flatMap(
    v => v.nodes.map(n => v.id + ": " + n.target.join(" ") + " | " + n.html.slice(0, 140)
      + " | " + (n.any[0]?.message || "")));
}"""


@pytest.fixture(scope="session")
def visit(site, open_context, axe):
    """What is seen on a visit to a page, at both widths, light and dark; each page once."""

    @functools.cache
    def visit(name):
        seen = {key: [] for key in ("asked", "console", "failed", "wide", "axe")}

        def look(response):
            if response.status >= 400:
                seen["failed"].append(response.url)

        context = open_context()
        page = context.new_page()
        page.on("console", lambda m: m.type == "error" and seen["console"].append(m.text))
        page.on("pageerror", lambda error: seen["console"].append(str(error)))
        page.on("requestfailed", lambda request: seen["failed"].append(request.url))
        page.on("request", lambda request: seen["asked"].append(request.url))
        page.on("response", look)
        page.goto(f"{site}{name}.html", wait_until="load")
        seen["maths"] = page.evaluate(LEFT_OVER)
        seen["unnamed"] = page.evaluate(UNNAMED)
        for width, scheme in LOOKS:
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            page.wait_for_timeout(400)  # the side panels slide when the width changes
            seen["wide"] += [f"at {width}: {line}" for line in page.evaluate(TOO_WIDE)]
            shot = SHOTS / f"{name.replace('/', '-')}-{width}-{scheme}.jpg"
            page.screenshot(path=shot, full_page=True, type="jpeg", quality=70)
        page.evaluate(UNFOLDED)
        page.set_viewport_size({"width": 1280, "height": 800})
        seen["scrolls"] = page.evaluate(SCROLLS)
        page.emulate_media(media="print")
        page.set_viewport_size(A4)
        seen["cut"] = page.evaluate(CUT)
        page.emulate_media(media="screen")
        if axe:
            page.evaluate(THINNED)
            page.evaluate(axe)
        for width, scheme in LOOKS if axe else ():
            page.set_viewport_size({"width": width, "height": 800})
            page.emulate_media(color_scheme=scheme)
            # The theme lets the keyboard reach what scrolls, a bit later.
            page.wait_for_timeout(500)
            found = page.evaluate(AXE, ["color-contrast"] if scheme == "dark" else None)
            seen["axe"] += [f"at {width}, {scheme}: {line}" for line in found]
        context.close()
        return seen

    SHOTS.mkdir(parents=True, exist_ok=True)
    return visit


@pytest.fixture
def page(open_context):
    context = open_context(viewport={"width": 1280, "height": 800})
    yield context.new_page()
    context.close()


# -------------------------------------------------------------------------------------- each page


@every_page
def test_no_request_leaves_localhost(site, visit, name):
    here = (site, "data:", "blob:")
    assert [url for url in visit(name)["asked"] if not url.startswith(here)] == []


@every_page
def test_no_error_in_the_console_and_no_failed_resource(visit, name):
    assert visit(name)["console"] == []
    assert visit(name)["failed"] == []


@every_page
def test_every_equation_is_typeset(visit, name):
    assert visit(name)["maths"] == []


@every_page
def test_code_fits_the_column_of_a_wide_screen(visit, name):
    assert visit(name)["scrolls"] == []


@every_page
def test_nothing_overflows_sideways(visit, name):
    assert visit(name)["wide"] == []


@every_page
def test_nothing_is_cut_on_paper(visit, name):
    assert visit(name)["cut"] == []


@every_page
def test_solution_buttons_are_named(visit, name):
    assert visit(name)["unnamed"] == []


@every_page
def test_axe_finds_nothing_serious_or_moderate(visit, axe, name):
    if axe is None:
        pytest.skip("axe-core cannot be had from npm here")
    assert visit(name)["axe"] == []


@functools.cache
def soup(path):
    return BeautifulSoup(path.read_bytes(), "html.parser")


@functools.cache
def anchors(path):
    return {node["id"] for node in soup(path).find_all(id=True)}


def test_the_landing_page_is_called_what_it_is_cited_as(site):
    page = soup(HTML / "book" / "index.html")
    cited = page.find("meta", {"name": "citation_title"})["content"]
    assert page.h1.get_text().rstrip("#") == cited


@pytest.mark.parametrize("name", PAGES + EXTRA)
def test_every_internal_link_and_anchor_resolves(site, name):
    here, broken = HTML / f"{name}.html", []
    for node in soup(here).select("a[href], img[src], script[src], link[href]"):
        address = node.get("href") or node.get("src")
        target = urlsplit(urljoin(f"{site}{name}.html", address))
        if not target.geturl().startswith(site):
            continue
        path = HTML / unquote(target.path).lstrip("/")
        path = path / "index.html" if path.is_dir() else path
        fragment = unquote(target.fragment)
        if not path.is_file() or (fragment and fragment not in anchors(path)):
            broken.append(address)
    assert broken == []


def test_the_landing_page_says_all_in_one_screen(site, page):
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{site}book/index.html")
        page.locator(".finding .live-state").wait_for()
        for part in (".promise", ".finding", ".start a", ".paper"):
            box = page.locator(part).first.bounding_box()
            assert box["y"] + box["height"] <= height, part
        assert "1709.02896" in page.locator(".paper").inner_text()


def test_the_summary_prints_on_one_page(site, page):
    page.goto(f"{site}book/summary.html")
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1


# ------------------------------------------------------------------------- finding, taking, waiting


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("equation 52", "book/glossary.html"),
        ("whitening", "book/06-w-step.html"),
        ("heat kernel", "book/glossary.html#term-heat-kernel"),
        ("Laplacian", "book/06-w-step.html"),
        ("sparsity", "book/03-objective.html"),
        ("gamma rule", "book/05-gamma-step.html"),
        ("orthonormal basis", "book/06-w-step.html"),
        ("stand-in", "book/data.html"),
        ("Eq. 52", "book/glossary.html#term-equation-52"),
    ],
)
def test_search_finds(site, page, query, place):
    page.goto(f"{site}search.html?q={query}")
    page.wait_for_function(
        "/finished|found/i.test(document.querySelector('.search-summary')?.textContent)"
    )
    found = page.eval_on_selector_all("#search-results li a", "links => links.map(a => a.href)")
    assert any(link.startswith(site + place) for link in found), found


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("simplex", "book/04-s-step.html"),
        ("gamma", "book/05-gamma-step.html"),
        ("γ", "book/05-gamma-step.html"),
        ("(52)", "book/glossary.html#term-equation-52"),
    ],
)
def test_search_shows_the_right_place_first_and_sentences_below(site, page, query, first):
    page.goto(f"{site}search.html?q={query}")
    page.wait_for_selector("#search-results li:nth-child(5) p.context")
    found = page.eval_on_selector_all("#search-results li a", "links => links.map(a => a.href)")
    assert found[0] == site + first
    for text in page.locator("#search-results p.context").all_inner_texts():
        assert not re.search(r"\\[A-Za-z]|\bimport |\$", text), text


def test_the_current_chapter_is_in_view_in_the_sidebar(site, page):
    for name in ("book/13-verdict", "book/bibliography"):
        page.goto(f"{site}{name}.html", wait_until="load")
        place = page.locator("#pst-primary-sidebar .current.active > a").first.bounding_box()
        assert 0 <= place["y"] <= 800 - place["height"]


def test_what_scrolls_on_a_phone_says_so(site, page):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{site}book/line-5-w-step.html", wait_until="load")
    wide = page.wait_for_selector("div.math.more")
    assert wide.get_attribute("tabindex") == "0"
    wide.evaluate("node => { node.scrollLeft = node.scrollWidth; }")
    page.wait_for_function("node => !node.matches('.more')", arg=wide)


def test_without_scripts_text_figures_and_formulas_are_there(site, open_context):
    context = open_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}book/05-gamma-step.html")
    assert page.locator("div.math math").first.bounding_box()["height"] > 20
    assert page.locator("article img").first.is_visible()
    context.close()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_notebook_can_be_downloaded(site, name):
    page = HTML / f"{name}.html"
    offered = page.parent / soup(page).select_one("a.btn-download-source-button")["href"]
    assert offered.read_bytes() == (ROOT / f"{name}.ipynb").read_bytes()
