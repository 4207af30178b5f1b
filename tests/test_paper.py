"""The paper's numbers against the paper itself, where its source is at hand."""

import os
import re
from pathlib import Path

import pytest

from slnp_edu.evidence import paper

TABLES = {
    "yale_b": ("table1", "table2"),
    "coil100": ("table3", "table4"),
    "mnist": ("table5", "table6"),
}


@pytest.fixture(scope="module")
def source():
    path = os.environ.get("SLNP_EDU_PAPER")
    if not path:
        pytest.skip("SLNP_EDU_PAPER does not point at the paper's LaTeX source")
    return Path(path).read_text()


def rows(source, label):
    """First cell -> numbers, for each row of the table with this label."""
    body = source[source.index(rf"\label{{{label}}}") :]
    body = body[: body.index(r"\end{tabular}")]
    body = body[body.index(r"\toprule") :]
    table = {}
    for line in body.split(r"\\"):
        first, *cells = re.sub(r"\\(top|mid|bottom)rule|\\textbf|[{}$]", "", line).split("&")
        if cells:
            table[first.strip()] = [float(cell) for cell in cells]
    return table


@pytest.mark.parametrize("dataset", TABLES)
def test_tables_are_those_of_the_paper(source, dataset):
    dimensions, rates = (rows(source, label) for label in TABLES[dataset])
    columns = list(paper.DIMENSIONS[dataset])
    assert dimensions["N_i"] == rates["N_i"] == columns
    assert dimensions["D_PCA"] == [paper.DIMENSIONS[dataset][n]["D_PCA"] for n in columns]
    assert dimensions["D_SLNP"] == [paper.DIMENSIONS[dataset][n]["d"] for n in columns]
    for method in paper.METHODS:
        printed = rates["Ours (SLNP)" if method == "SLNP" else method]
        assert printed == [paper.rate(dataset, method, n) for n in columns]


@pytest.mark.parametrize(
    "value",
    ["0.1307", "0.0891", "0.5063", "0.0061", "40.45", "20.17", "10.02", "9.85", "59.51", "16,128"],
)
def test_values_from_the_text_stand_in_the_paper(source, value):
    assert value in source
    stored = repr(paper.FIGURES) + repr(paper.CONTRADICTIONS)
    assert value in stored


@pytest.mark.parametrize("claim", paper.CLAIMS)
def test_a_claim_is_quoted_word_for_word(source, claim):
    _, words = paper.CLAIMS[claim]
    assert words in " ".join(source.split())


def test_every_figure_is_there():
    assert list(paper.FIGURES) == list(range(1, 13))


def test_seventeen_columns():
    assert sum(len(columns) for columns in paper.DIMENSIONS.values()) == 17
    for dataset, columns in paper.DIMENSIONS.items():
        assert set(paper.RATES[dataset]) == set(paper.METHODS)
        assert all(len(row) == len(columns) for row in paper.RATES[dataset].values())
