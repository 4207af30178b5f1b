"""What the last three chapters say in prose is what their tables, made from the records, say.

Every notebook is run again by the tests (nbval), so its stored tables are what the records give.
"""

import re
from pathlib import Path

import nbformat
import pytest

BOOK = Path(__file__).parents[2] / "book"
BASES = ("orthonormal", "whitened")


def chapter(name):
    return nbformat.read(BOOK / f"{name}.ipynb", as_version=4)


def prose(name):
    cells = [cell.source for cell in chapter(name).cells if cell.cell_type == "markdown"]
    text = re.sub(r"\{ref\}`([^<`]*) <[^`]*>`", r"\1", " ".join(cells))
    return " ".join(text.split())


@pytest.fixture(scope="module")
def verdict():
    return prose("15-verdict")


def stored_tables():
    """Corner of a table in chapter 15 -> row -> column -> what stands there."""
    found = {}
    for cell in chapter("15-verdict").cells:
        for output in cell.get("outputs", []):
            text = output.get("data", {}).get("text/markdown", "")
            if not text.startswith("|"):
                continue
            lines = [line.strip("| ").split(" | ") for line in text.splitlines()]
            (corner, *columns), _, *rows = lines
            found[corner] = {row: dict(zip(columns, cells, strict=True)) for row, *cells in rows}
    return found


@pytest.fixture(scope="module")
def tables():
    return stored_tables()


def number(cell):
    """Points and half-width, as floats."""
    return tuple(map(float, re.findall(r"[-+]?\d+\.\d+", cell.replace("−", "-").replace("*", ""))))


def short(cell):
    """The cell of a table as the prose has it, with one decimal."""
    points, interval = number(cell)
    return f"{points:+z.1f} ± {interval:.1f}"


def word(cell):
    return cell.replace("*", "").split(" ")[-1]


def exact(cell):
    """The same with two decimals."""
    points, interval = number(cell)
    return f"{points:+.2f} ± {interval:.2f}"


def span(cells):
    points = sorted(abs(number(cell)[0]) for cell in cells)
    return f"{points[0]:.1f} to {points[-1]:.1f}"


def test_the_tables_are_there(tables):
    corners = {"neighbours", "SLNP - other", "choice: way"}
    assert corners <= set(tables)
    assert {f"SLNP - other, both {basis}" for basis in ("whitened", "orthonormal")} <= set(tables)


def test_what_is_said_of_learning_has_both_sides(verdict, tables):
    of = tables["neighbours"]
    bases = ("whitened", "orthonormal")
    lists = ("fixed beforehand", "fixed after whitening")
    fixed = [of[row][f"objects, {b}"] for row in lists for b in bases]
    assert {word(cell) for cell in fixed} == {"ahead"}
    assert f"give {span(fixed)} points more than neighbours fixed beforehand" in verdict
    drawn = {
        name: of["random, of the class"][f"{name}, whitened"] for name in ("objects", "digits")
    }
    assert {word(cell) for cell in drawn.values()} == {"ahead"}
    gains = {name: f"{number(cell)[0]:.1f}" for name, cell in drawn.items()}
    assert f"by {gains['objects']} points on objects and {gains['digits']} on digits" in verdict
    after = [of["fixed after whitening"][f"faces, {basis}"] for basis in bases]
    assert {word(cell) for cell in after} == {"behind"}
    assert f"better by {span(after)} points: for such faces SLNP is behind" in verdict


def test_what_is_said_of_the_tuned_comparison(verdict, tables):
    of = {row.split(":")[0]: cells for row, cells in tables["SLNP - other"].items()}
    free, white, plain = (exact(cell) for cell in of["fixed graph"].values())
    assert f"{free} (both orthonormal {plain}, both whitened {white}): level" in verdict
    lfda = of["LFDA"]["each in its own basis"]
    assert f"the mean over the four sets is {exact(lfda)} points, {word(lfda)}" in verdict
    plain, white = (exact(of["LFDA"][f"both {b}"]) for b in BASES)
    assert f"With both orthonormal it is {plain}, with both whitened {white}, level too" in verdict
    assert f"Tuned, it is worth {free[1:]}".lower() in verdict.lower()
    for name in ("14-fair-fight",):
        assert prose(name).count(free) == 2


def test_what_is_said_of_lfda_set_by_set(verdict, tables):
    rows = [tables[f"SLNP - other, both {basis}"]["LFDA"] for basis in ("whitened", "orthonormal")]
    of = {
        name: [number(row[f"such {name}"])[0] for row in rows]
        for name in ("faces", "objects", "digits")
    }
    assert {f"{points:.1f}" for points in of["faces"]} == {"-0.6"}
    low, high = sorted(of["objects"])
    said = (
        "0.6 points lower on faces, {:.2f} to {:.2f} higher on objects, and on digits {:.1f} lower"
    )
    assert said.format(low, high, -of["digits"][0]) in verdict
    assert [word(row["such data sets"]) for row in rows] == ["undecided", "level"]
    assert "the mean over sets is level orthonormal and undecided whitened" in verdict


def test_what_is_said_of_the_choices(verdict, tables):
    of = tables["choice: way"]
    for row, column in (
        ("images: unit norm", "rate, faces"),
        ("images: unit norm", "rate, digits"),
    ):
        assert short(of[row][column]).removeprefix("+") in verdict
    for row, column in (("K: fewer", "rate, digits"), ("d: half", "lead, digits")):
        assert short(of[row][column]) in verdict


@pytest.mark.parametrize("name", ["13-learning", "14-fair-fight", "15-verdict"])
def test_the_words_of_the_tests_are_not_used_for_mere_differences(name):
    """Such as "0.6 points behind" and then "level"; a test's word may be followed by its points."""
    loose = r"\d points (ahead|behind)|slightly (ahead|behind)|(ahead|behind) by some"
    assert not re.search(loose, prose(name))
