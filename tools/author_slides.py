"""Make lecture slides from the chapters of the course plans: headings, formulas and figures.

Usage: python tools/author_slides.py [FOLDER]      (_build/slides unless told)

Each section of a chapter becomes a slide; its text goes into the speaker's notes (press S). The
decks are nbconvert's, which show them with reveal.js and MathJax from the network; another place
for reveal.js: --reveal URL.
"""

import argparse
import re
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from nbformat.v4 import new_markdown_cell, new_notebook

ROOT = Path(__file__).parent.parent
# The chapters of the two plans on the book's page "Teaching with this book".
CHAPTERS = ["01-toy", "02-one-objective", "03-objective", "04-s-step", "05-gamma-step"]
CHAPTERS += ["06-w-step", "07-algorithm", "10-yale-b", "12-mnist"]
FORMULA = re.compile(r"^(?:\$\$.*?\$\$|\\begin\{equation\*?\}.*?\\end\{equation\*?\})", re.M | re.S)


def plain(text):
    """A text without the book's markup: roles, directives, labels."""
    text = re.sub(r"^\s*(:{3,}|`{3,}|\([\w-]+\)=).*$", "", text, flags=re.M)
    text = re.sub(r"^\s*:\w+:.*$", "", text, flags=re.M)
    text = re.sub(r"\{[\w:+-]+\}`([^`<]+?)(?:\s*<[^>]*>)?`", r"\1", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def pictures(cell):
    outputs = (output.get("data", {}) for output in cell.get("outputs", []))
    return [data["image/png"] for data in outputs if "image/png" in data]


def sections(notebook):
    """(heading, texts, pictures) of each section, the chapter's title first."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for part in re.split(r"^(?=#{1,2} )", cell.source, flags=re.M):
                heading = re.match(r"#{1,2} (.*)", part)
                if heading:
                    found.append((plain(heading[1]), [], []))
                if found:
                    found[-1][1].append(part.partition("\n")[2] if heading else part)
        elif found:
            found[-1][2].extend(pictures(cell))
    return found


def slide(kind, source, images=()):
    names = {f"figure{n}.png": {"image/png": image} for n, image in enumerate(images)}
    source += "".join(f"\n\n![figure](attachment:{name})" for name in names)
    cell = new_markdown_cell(source, metadata={"slideshow": {"slide_type": kind}})
    if names:
        cell.attachments = names
    return cell


def deck(chapter):
    """A notebook for nbconvert: one slide with formulas, one for each figure, and notes."""
    cells = []
    for heading, texts, images in sections(chapter):
        text = "\n\n".join(texts)
        formulas = FORMULA.findall(text)
        sentence = re.match(r"[^$\\]*?[.:?](?=\s|$)", plain(FORMULA.sub("", text)))
        shown = [f"## {heading}", sentence[0] if sentence else "", *formulas[:3]]
        cells.append(slide("slide", "\n\n".join(filter(None, shown))))
        cells += [slide("subslide", f"### {heading}", [image]) for image in images]
        if plain(text):
            cells.append(slide("notes", plain(text)))
    return new_notebook(cells=cells)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "_build" / "slides")
    parser.add_argument("--reveal", help="where reveal.js is")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    exporter = SlidesExporter(exclude_input_prompt=True)
    if options.reveal:
        exporter.reveal_url_prefix = options.reveal
    for name in CHAPTERS:
        notebook = nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)
        page, _ = exporter.from_notebook_node(deck(notebook))
        (options.folder / f"{name}.html").write_text(page, encoding="utf-8")
    print(f"{len(CHAPTERS)} decks in {options.folder}")


if __name__ == "__main__":
    main()
