"""The paper's numbers against the paper itself, where its source is at hand."""

import os
import re
from pathlib import Path

import pytest

from slnp_study import paper

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


def sentence(source, start):
    """One line of the source, from `start` on, without the braces and commands of its formulas."""
    text = source[source.index(start) :].partition("\n")[0]
    text = re.sub(r"\\(mathbf|text|dfrac)|[{}$~]", "", text).replace(r"\times", "x")
    return re.sub(r"\s+", " ", text)


YALE, COIL, MNIST = (paper.DATASETS[name] for name in ("yale_b", "coil100", "mnist"))
FIGURES = paper.FIGURES
GAMMA = r"gamma _(\d+)\^\*=([\d.]+)"
#: The beginning of a sentence of the paper -> patterns -> where the numbers in them are kept.
SAID = {
    "The extended Yale Face Database B contains": {
        r"([\d,]+) images of (\d+) human subjects under (\d+) poses": (
            f"{YALE['images']:,}",
            YALE["subjects"],
            YALE["poses"],
        ),
        r"normalized to (\d+)x (\d+) pixels": YALE["image_shape"],
    },
    r"\textbf{Convergence}": {
        r"(\d+) images per subject": (FIGURES[4]["N_i"],),
        r"D_PCA=(\d+), d=D_SLNP=(\d+), and K=(\d+)": [FIGURES[4][n] for n in ("D_PCA", "d", "K")],
    },
    "Fig. 4 shows how": {r"iteration number is (\d+)": (FIGURES[4]["converged_at"],)},
    r"\textbf{Property of the Learned Similarities}": {
        r"class label is (\d+)": (FIGURES[5]["class"],),
        r"equal to ([\d.]+\d)": (FIGURES[5]["start"],),
        r"s_38,1,(\d+)=([\d.]+) and it is the largest": FIGURES[5]["largest"].values(),
        r"s_38,1,(\d+)=([\d.]+) and it is the smallest": FIGURES[5]["smallest"].values(),
    },
    "Now we compare the learned similarity": {
        r"most similar to x_38,(\d+) in Fig. 6\(a\)": (FIGURES[6]["nearest_learned"],),
        r"most similar to x_38,(\d+) in Fig. 6\(b\)": (FIGURES[6]["nearest_lpp"],),
        r"s_38,1,(\d+)=([\d.]+) whereas s_38,1,(\d+)=([\d.]+\d)": [
            number for pair in FIGURES[6]["lpp"].items() for number in pair
        ],
    },
    "Fig. 7 shows the images": {
        rf"{GAMMA}, .{GAMMA}, and .{GAMMA}, respectively": [
            number for pair in FIGURES[7]["gamma"].items() for number in pair
        ]
    },
    "In above experiments, the setup": {
        r"D_PCA=(\d+), D_SLNP=(\d+), K=(\d+)": [FIGURES[7][n] for n in ("D_PCA", "d", "K")]
    },
    "Let  $K$ varies from": {
        r"from (\d+) to (\d+) and": (FIGURES[8]["K"][0], FIGURES[8]["K"][-1]),
        r"we let K=(\d+)": (YALE["K"],),
    },
    "${{D}_{PCA}}$ and  ${{D}_{SLNP}}$ (i.e.,  $d$) are": {
        r"When N_i=(\d+) ": (FIGURES[9]["N_i"],),
        r"and D_PCA=(\d+),": (FIGURES[9]["D_PCA"],),
        r"until d=(\d+) ": (FIGURES[9]["best_d"],),
    },
    "The COIL-100 database consists": {
        r"of (\d+) objects \(classes\) with (\d+) images per": (
            COIL["classes"],
            COIL["images_per_class"],
        ),
        r"the size of (\d+)x(\d+) pixels": COIL["image_shape"],
    },
    "The number $K$ of neighbors is set": {r"is set to (\d+)\.": (COIL["K"],)},
    "We randomly samples": {
        r"samples (\d+) images": (MNIST["sampled_images"],),
        r"normalized to (\d+)x(\d+) pixels": MNIST["image_shape"],
        r"D_PCA=(\d+), D_SLNP=d=(\d+), and N_i=M=(\d+)": [
            FIGURES[12][n] for n in ("D_PCA", "d", "N_i")
        ],
        r"K=(\d+) results in the best": (FIGURES[12]["best_K"],),
        r"K=(\d+) is used": (MNIST["K"],),
        r"when K=(\d), (\d), (\d), (\d), and (\d) are not": FIGURES[12][
            "no_significant_difference"
        ],
    },
}


@pytest.mark.parametrize("start", SAID)
def test_numbers_of_the_text_are_kept_where_they_belong(source, start):
    text = sentence(source, start)
    for pattern, kept in SAID[start].items():
        found = re.search(pattern, text)
        assert found, (pattern, text)
        assert [str(number) for number in kept] == list(found.groups()), pattern


def test_the_leads_that_the_text_quotes_are_those_of_the_tables():
    """Sums of table entries that the paper did itself, 9.85 (for 9.86) left out."""

    def lead(dataset, method, N_i):
        return paper.rate(dataset, "SLNP", N_i) - paper.rate(dataset, method, N_i)

    for method, said in (("LDA", 7.69), ("MFA", 9.61), ("LFDA", 4.75)):
        assert lead("coil100", method, 6) == pytest.approx(said)
    for N_i, said in ((5, 7.28), (25, 2.16)):
        assert lead("mnist", "LFDA", N_i) == pytest.approx(said)


def test_the_figures_use_the_settings_of_the_tables():
    """As the text says; Figs. 5 to 8 do not repeat all of them."""
    for number in range(4, 9):
        column = {name: FIGURES[number][name] for name in ("D_PCA", "d")}
        assert column == paper.DIMENSIONS["yale_b"][FIGURES[number]["N_i"]]
    assert [FIGURES[number]["K"] for number in (5, 6, 7)] == [9, 9, 9]  # N_i - 1, all of a class
    assert FIGURES[8]["K"] == tuple(range(2, 10))
    assert FIGURES[4]["K"] == FIGURES[9]["K"] == YALE["K"]
    assert FIGURES[12]["best_K"] == MNIST["K"]


@pytest.mark.parametrize("claim", paper.CLAIMS)
def test_a_claim_is_quoted_word_for_word(source, claim):
    _, words = paper.CLAIMS[claim]
    assert words in " ".join(source.split())
