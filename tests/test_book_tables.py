"""What stands in the tables and the forest plots, read back from them."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from scipy.stats import t

from slnp_edu.book import (
    Ruling,
    against_paper,
    beside_paper,
    claims_table,
    differences_table,
    forest,
    specification_curves,
    verdict_grid,
)
from slnp_edu.book.plots import WORD
from slnp_edu.evidence import choices, paper
from slnp_edu.evidence.statistics import Estimate, Finding, Verdict

NB = "\N{NO-BREAK SPACE}"
#: Standard deviation 1 over four splits, so that the half-widths are known by heart.
FOUR = np.array([-1.0, -1.0, 1.0, 1.0]) * np.sqrt(3) / 2
MEAN_HALF = t.ppf(0.975, 3) / 2
SPLIT_HALF = t.ppf(0.975, 3) * np.sqrt(1.25)


def cells(markdown, aligned="---:"):
    """Row by row, without the line under the header: it has the numbers flush right."""
    lines = [line.strip("| ").split(" | ") for line in markdown.data.splitlines()]
    assert lines[1] == ["---"] + [aligned] * (len(lines[0]) - 1)
    return [lines[0], *lines[2:]]


@pytest.mark.parametrize(
    ("gap", "inside"), [(3.421, True), (-3.421, True), (3.681, False), (-3.681, False)]
)
def test_against_paper_is_bold_where_one_more_split_could_give_the_figure(gap, inside):
    """The half-width of one more split is 3.56 here, that of the mean 1.59."""
    assert 3.421 < SPLIT_HALF < 3.681
    columns = {
        N_i: {
            method: {
                "whitened": paper.rate("mnist", method, N_i) - gap + FOUR,
                "orthonormal": np.full(4, 1.0) + FOUR,
            }
            for method in paper.METHODS
        }
        for N_i in paper.DIMENSIONS["mnist"]
    }
    header, *rows = cells(against_paper(columns, "mnist"))
    assert header == ["N_i =", "5", "10", "15", "20", "25", "30"]
    assert len(rows) == 3 * len(paper.METHODS)
    mark = "**" if inside else ""
    for method, printed, whitened, orthonormal in zip(
        paper.METHODS, rows[::3], rows[1::3], rows[2::3], strict=True
    ):
        figures = paper.RATES["mnist"][method]
        assert printed == [f"{method}, the paper", *(f"{rate:.2f}" for rate in figures)]
        ours = [f"{mark}{rate - gap:.1f}{NB}±{NB}1.6{mark}" for rate in figures]
        assert whitened == ["ours, whitened", *ours]
        assert orthonormal == ["ours, orthonormal", *6 * [f"1.0{NB}±{NB}1.6"]]


def finding(word, points, interval):
    return Finding(word, points, interval, 0.5, 0.5)


#: These and such images differ in every field.
VERDICTS = {
    (10, "LDA", "whitened"): Verdict(
        20, 1000, finding("ahead", 2.0, 0.5), finding("undecided", 2.5, 3.0)
    ),
    (5, "LDA", "whitened"): Verdict(
        -30, 1000, finding("behind", -3.0, 0.4), finding("ahead", 3.5, 1.25)
    ),
    (10, "MFA", "whitened"): Verdict(
        1, 1000, finding("level", 0.1, 0.3), finding("behind", -0.2, 0.15)
    ),
    (5, "MFA", "whitened"): Verdict(
        1, 1000, finding("undecided", 0.4, 0.9), finding("level", 0.0, 0.6)
    ),
    (5, "LDA", "orthonormal"): Verdict(
        9, 1000, finding("ahead", 9.0, 0.9), finding("ahead", 9.0, 0.9)
    ),
}


def test_differences_table_has_points_half_width_and_the_word_if_there_is_one():
    rows = {
        "MFA": {"faces": finding("level", 0.0, 0.6), "such sets": finding("behind", -0.2, 0.15)},
        "LDA": {"faces": finding("ahead", 3.5, 1.25), "such sets": finding("undecided", 2.5, 3)},
        "K": {"faces": Estimate(-1.0, 0.5, 3), "such sets": Estimate(0.25, 0.01, 3)},
        "d": {"faces": Estimate(-0.001, 0.002, 3), "such sets": None},
    }
    header, *lines = cells(differences_table("SLNP - other", rows))
    assert header == ["SLNP - other", "faces", "such sets"]
    assert lines == [
        ["MFA", "+0.00±0.60 level", "−0.20±0.15 *behind*"],
        ["LDA", "+3.50±1.25 **ahead**", "+2.50±3.00 undecided"],
        ["K", f"*−1.00±{0.5 * t.ppf(0.975, 3):.2f}*", "+0.25±0.03"],
        ["d", "*+0.00±0.01*", "–"],
    ]


def test_claims_table_has_every_claim_word_for_word_with_its_own_ruling():
    parts = [(True,), (True, False), (False, False), ()]
    said = ["holds", "holds in part", "does not hold", "cannot be decided"]
    rulings = {
        claim: Ruling(parts[i % 4], f"reason {i}", f"cell {i}")
        for i, claim in enumerate(paper.CLAIMS)
    }
    header, *rows = cells(claims_table(dict(reversed(rulings.items()))), aligned="---")
    assert header == ["the paper says", "verdict", "because", "decided in"]
    assert len(rows) == len(paper.CLAIMS)
    for i, (row, (where, words)) in enumerate(zip(rows, paper.CLAIMS.values(), strict=True)):
        assert row == [f"“{words}” ({where})", f"**{said[i % 4]}**", f"reason {i}", f"cell {i}"]


def test_the_specification_curves_are_sorted_with_the_figure_of_the_paper_across():
    rng = np.random.default_rng(0)
    values = rng.normal(size=choices.shape(choices.CHOICES))
    values[choices.where(basis="whitened")] -= 100  # all of them in the first half
    figure = specification_curves({"one": (values, 2.5), "two": (-values, 7.0)}, strips=True)
    one, two, strips, _, key = figure.axes
    assert np.array_equal(one.lines[0].get_ydata(), np.sort(values.ravel()))
    assert np.array_equal(two.lines[0].get_ydata(), np.sort(-values.ravel()))
    assert [ax.lines[1].get_ydata()[0] for ax in (one, two)] == [2.5, 7.0]
    labels = [label.get_text() for label in strips.get_yticklabels()]
    assert len(labels) == sum(choices.shape(choices.CHOICES))
    shares = dict(zip(labels, strips.images[0].get_array(), strict=True))
    assert np.array_equal(shares["basis: whitened"], [2] * 36 + [0] * 36)
    assert np.array_equal(shares["basis: orthonormal"], [0] * 36 + [2] * 36)
    assert all(np.isclose(share.mean(), 1) for share in shares.values())  # two ways or three
    assert [tick.get_text() for tick in key.get_xticklabels()][1] == "as often as anywhere"
    assert key.get_xticks().tolist() == [0, 1, 2]
    assert len(specification_curves({"one": (values, 2.5)}).axes) == 1
    plt.close("all")


def test_the_forest_shows_both_intervals_the_margin_and_the_words():
    rows = {"first row": VERDICTS[10, "LDA", "whitened"], "no images": finding("level", 0.1, 0.3)}
    ax = forest(rows)
    lines = sorted(
        tuple(np.round(segment.ravel(), 6))
        for collection in ax.collections  # the lines of errorbar
        for segment in collection.get_segments()
    )
    assert lines == [(-0.5, 0, 5.5, 0), (-0.2, 1, 0.4, 1), (1.5, 0, 2.5, 0)]
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert np.allclose((band.x0, band.x1), (-1, 1))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first row", "no images"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row on top
    said = {text.get_position(): text.get_text() for text in ax.texts}
    (left, top), (right, _) = list(said)[:2]
    assert (said.pop((left, top)), said.pop((right, top))) == ("these (thick)", "such (thin)")
    assert said == {(left, 0): "ahead", (right, 0): "undecided", (left, 1): "level"}
    plt.close(ax.figure)


def test_the_grid_has_the_points_and_the_look_of_the_word_of_one_scope():
    verdicts = VERDICTS | {
        (N_i, other, "orthonormal"): Verdict(0, 9, finding("level", 0, 1), finding("level", 0, 1))
        for N_i, other in ((5, "MFA"), (10, "LDA"), (10, "MFA"))
    }
    figure = verdict_grid(verdicts, ("MFA", "LDA"))
    whitened = figure.axes[0]
    assert "whitened" in whitened.get_title()
    assert [label.get_text() for label in whitened.get_yticklabels()] == ["MFA", "LDA"]
    assert [label.get_text() for label in whitened.get_xticklabels()] == ["5", "10"]
    found = {text.get_position(): text.get_text() for text in whitened.texts}
    assert found == {(0, 0): "+0.0", (1, 0): "-0.2", (0, 1): "+3.5", (1, 1): "+2.5"}
    looks = {
        (round(patch.get_x() + 0.48), round(patch.get_y() + 0.45)): patch.get_facecolor()
        for patch in whitened.patches
    }
    words = {(0, 0): "level", (1, 0): "behind", (0, 1): "ahead", (1, 1): "undecided"}
    assert looks == {place: to_rgba(WORD[word]["facecolor"]) for place, word in words.items()}
    assert len(set(looks.values())) == 4
    plt.close(figure)


def test_the_picture_beside_the_paper_has_its_figures_and_our_bars_of_one_more_split():
    columns = {
        N_i: {m: {"whitened": 50 + FOUR, "orthonormal": 60 + 2 * FOUR} for m in paper.METHODS}
        for N_i in paper.DIMENSIONS["mnist"]
    }
    figure = beside_paper(columns, "mnist")
    for ax, method in zip(figure.axes, paper.METHODS, strict=True):
        assert ax.get_title() == method
        assert [label.get_text() for label in ax.get_xticklabels()] == [str(N) for N in columns]
        crosses = next(line for line in ax.lines if line.get_label() == "the paper")
        assert tuple(crosses.get_ydata()) == paper.RATES["mnist"][method]
        for bars, middle, half in zip(
            ax.containers, (50, 60), (SPLIT_HALF, 2 * SPLIT_HALF), strict=True
        ):
            (low, high) = bars[2][0].get_segments()[0][:, 1]
            assert np.allclose((low, high), (middle - half, middle + half))
    plt.close(figure)
