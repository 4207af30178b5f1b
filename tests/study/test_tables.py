"""What stands in the tables and the forest plots, read back from them."""

from itertools import pairwise, product

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba
from scipy.stats import t

from slnp_study import paper
from slnp_study.plots import WORD, beside_paper, forest, specification_curves, verdict_grid
from slnp_study.statistics import Estimate, Finding, Verdict
from slnp_study.studies import choices
from slnp_study.tables import Ruling, against_paper, claims_table, differences_table

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
        "rounds": {"faces": Estimate(0.0, 0.0, 3), "such sets": Estimate(0.1, 0.0, 3)},
    }
    header, *lines = cells(differences_table("SLNP - other", rows))
    assert header == ["SLNP - other", "faces", "such sets"]
    assert lines == [
        ["MFA", "+0.00±0.60 level", "−0.20±0.15 *behind*"],
        ["LDA", "+3.50±1.25 **ahead**", "+2.50±3.00 undecided"],
        ["K", f"*−1.00±{0.5 * t.ppf(0.975, 3):.2f}*", "+0.25±0.03"],
        ["d", "*+0.00±0.01*", "–"],
        ["rounds", "*+0.00±0.00*", "+0.10±0.00"],
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


def labels(ax, axis="x"):
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


def test_the_specification_curves_are_sorted_with_the_figure_of_the_paper_across():
    rng = np.random.default_rng(0)
    values = rng.normal(size=choices.shape(choices.CHOICES))
    figure = specification_curves({"one": (values, 2.5), "two": (-values, 7.0)})
    one, two = figure.axes
    assert np.array_equal(one.lines[0].get_ydata(), np.sort(values.ravel()))
    assert np.array_equal(two.lines[0].get_ydata(), np.sort(-values.ravel()))
    for ax, title, printed in ((one, "one", 2.5), (two, "two", 7.0)):
        assert ax.get_title() == title
        assert ax.get_xlabel() == "1,728 specifications"
        assert ax.get_xticks().size == 0  # a place in the order is no quantity
        assert set(ax.lines[1].get_ydata()) == {printed}
        assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]  # apart in grey print
        (note,) = ax.texts
        assert (note.get_text(), note.xy) == ("the paper", (0, printed))
    figure.draw_without_rendering()
    plt.close(figure)


def frequencies(values, bins=72):
    """Along the order of the values, by counting: how frequent a way is, 1 its share of all."""
    pairs = zip(values.flat, product(*choices.CHOICES.values()), strict=True)
    ordered = [specification for _, specification in sorted(pairs, key=lambda pair: pair[0])]
    size = values.size // bins
    parts = [ordered[i * size : (i + 1) * size] for i in range(bins)]
    return {
        f"{choice}: {way}": [sum(s[k] == way for s in part) * len(ways) / size for part in parts]
        for k, (choice, ways) in enumerate(choices.CHOICES.items())
        for way in ways
    }


def test_the_strips_below_a_curve_say_where_in_it_every_way_is_frequent():
    rng = np.random.default_rng(0)
    values, by_lot = rng.normal(size=(2, *choices.shape(choices.CHOICES)))
    values[choices.where(d="half")] -= 100  # all of them in the first third
    figure = specification_curves({"one": (values, 2.5), "two": (by_lot, 7.0)}, strips=True)
    one, _, strips, others, key = figure.axes
    named = labels(strips, "y")
    assert strips.get_yticks().tolist() == list(range(len(named)))
    assert not any(labels(others, "y"))
    for ax, shown in ((strips, values), (others, by_lot)):
        counted = frequencies(shown)
        assert list(counted) == named
        assert np.allclose(ax.images[0].get_array(), list(counted.values()))
        assert ax.images[0].get_extent() == [0, values.size, len(named) - 0.5, -0.5]
        assert ax.images[0].get_clim() == (0, 2)
        none, even, twice = ax.images[0].to_rgba(np.array([0.0, 1.0, 2.0]))[:, :3].mean(axis=1)
        assert none > even > twice  # dark where it is frequent
    counted = frequencies(values)
    assert counted["d: half"] == [3] * 24 + [0] * 48
    assert all(np.isclose(np.mean(share), 1) for share in counted.values())  # two ways or three

    figure.draw_without_rendering()
    assert one.get_xlim() == strips.get_xlim()  # a place in the strip is that in the curve
    assert one.bbox.intervalx.tolist() == strips.bbox.intervalx.tolist()
    assert strips.bbox.intervaly.tolist() == others.bbox.intervaly.tolist()  # one label for both
    assert strips.get_aspect() == "auto"  # as high as there is room, not a hairline
    changes = [i + 0.5 for i, (a, b) in enumerate(pairwise(named)) if a[:2] != b[:2]]
    between = [line.tolist() for line in strips.collections[0].get_segments()]
    assert between == [[[0, y], [values.size, y]] for y in changes]

    assert others.images[0].colorbar.ax is key
    assert labels(key) == ["none here", "as often as anywhere", "twice as often"]
    assert key.get_xticks().tolist() == [0, 1, 2]
    plt.close(figure)


def test_specifications_of_one_value_stand_in_the_order_of_the_choices_on_every_machine():
    values = np.zeros(choices.shape(choices.CHOICES))
    values[choices.where(rounds=2)] = 1.0
    strips = specification_curves({"zeros and ones": (values, 0.0)}, strips=True).axes[1]
    first = strips.images[0].get_array()[:4]  # raw or unit norm; within each, PCA on part or all
    quarters = [[2, 2, 0, 0], [0, 0, 2, 2], [2, 0, 2, 0], [0, 2, 0, 2]]
    assert np.array_equal(first, np.tile(np.repeat(quarters, 9, axis=1), 2))
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
    *thin, thick, only = (bar.get_linewidth()[0] for bar in ax.collections)
    assert thin < [thick] == [only]
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [dot.get_xydata().tolist() for dot in dots] == [[[2.0, 0]], [[0.1, 1]]]  # these images
    assert min(dot.zorder for dot in dots) > max(bar.zorder for bar in ax.collections)
    assert ax.lines[0].get_xdata() == [0, 0]
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert np.allclose((band.x0, band.x1), (-1, 1))
    assert labels(ax, "y") == ["first row", "no images"]
    assert ax.get_ylim() == (1.5, -0.5)  # the first row on top
    for text in ax.texts:
        x, y = text.get_transform().transform(text.get_position())
        assert x > ax.bbox.x1  # right of the lines, however long they are
        assert np.isclose(y, ax.transData.transform(text.get_position())[1])
    said = {text.get_position(): text.get_text() for text in ax.texts}
    (left, top), (right, _) = list(said)[:2]
    assert (said.pop((left, top)), said.pop((right, top))) == ("these (thick)", "such (thin)")
    assert top < -0.5
    assert said == {(left, 0): "ahead", (right, 0): "undecided", (left, 1): "level"}
    assert ax.get_xlabel() == "SLNP - other (points); to the right SLNP is higher"
    assert forest(rows, first="LDA").get_xlabel().startswith("LDA - other")
    plt.close("all")


def test_the_grid_has_the_points_and_the_look_of_the_word_of_one_scope():
    verdicts = VERDICTS | {
        (N_i, other, "orthonormal"): Verdict(0, 9, finding("level", 0, 1), finding("level", 0, 1))
        for N_i, other in ((5, "MFA"), (10, "LDA"), (10, "MFA"))
    }
    figure = verdict_grid(verdicts, ("MFA", "LDA"))
    whitened, orthonormal = figure.axes
    for ax, basis in ((whitened, "whitened"), (orthonormal, "orthonormal")):
        assert ax.get_title() == f"both {basis}"
        assert ax.get_xlabel() == "N_i"
        assert labels(ax) == ["5", "10"]
        assert ax.get_xticks().tolist() == ax.get_yticks().tolist() == [0, 1]
        assert (ax.get_xlim(), ax.get_ylim()) == ((-0.5, 1.5), (1.5, -0.5))  # two cells each
    assert labels(whitened, "y") == ["MFA", "LDA"]
    found, of_orthonormal = (
        {text.get_position(): text.get_text() for text in ax.texts} for ax in figure.axes
    )
    assert found == {(0, 0): "+0.0", (1, 0): "-0.2", (0, 1): "+3.5", (1, 1): "+2.5"}
    assert of_orthonormal == {(0, 0): "+0.0", (1, 0): "+0.0", (0, 1): "+9.0", (1, 1): "+0.0"}
    looks = {
        tuple(np.round(patch.get_center(), 6)): patch.get_facecolor() for patch in whitened.patches
    }
    words = {(0, 0): "level", (1, 0): "behind", (0, 1): "ahead", (1, 1): "undecided"}
    assert looks == {place: to_rgba(WORD[word]["facecolor"]) for place, word in words.items()}
    assert len(set(looks.values())) == 4
    assert all(0 < patch.get_width() < 1 > patch.get_height() > 0 for patch in whitened.patches)
    (key,) = figure.legends
    meant = {
        text.get_text().removeprefix("SLNP "): patch.get_facecolor()
        for text, patch in zip(key.get_texts(), key.get_patches(), strict=True)
    }
    assert meant == {word: looks[place] for place, word in words.items()}
    plt.close(figure)


def test_the_picture_beside_the_paper_has_its_figures_and_our_bars_of_one_more_split():
    means = {
        (basis, method, N_i): 30 + 20 * (basis == "orthonormal") + 3 * i + N_i / 10
        for basis in ("whitened", "orthonormal")
        for i, method in enumerate(paper.METHODS)
        for N_i in paper.DIMENSIONS["mnist"]
    }
    columns = {
        N_i: {
            method: {
                "whitened": means["whitened", method, N_i] + FOUR,
                "orthonormal": means["orthonormal", method, N_i] + 2 * FOUR,
            }
            for method in paper.METHODS
        }
        for N_i in paper.DIMENSIONS["mnist"]
    }
    figure = beside_paper(columns, "mnist")
    places = np.arange(len(columns))
    for ax, method in zip(figure.axes, paper.METHODS, strict=True):
        assert ax.get_title() == method
        assert ax.get_xlabel() == "N_i"
        assert labels(ax) == [str(N_i) for N_i in columns]
        assert np.array_equal(ax.get_xticks(), places)
        crosses = next(line for line in ax.lines if line.get_label() == "the paper")
        assert np.array_equal(crosses.get_xdata(), places)
        assert tuple(crosses.get_ydata()) == paper.RATES["mnist"][method]
        drawn = {bars.get_label().removeprefix("ours, "): bars for bars in ax.containers}
        for basis, half in (("whitened", SPLIT_HALF), ("orthonormal", 2 * SPLIT_HALF)):
            middle = np.array([means[basis, method, N_i] for N_i in columns])
            assert np.allclose(drawn[basis][0].get_ydata(), middle)
            low, high = np.array(drawn[basis][2][0].get_segments())[:, :, 1].T
            assert np.allclose((low, high), (middle - half, middle + half))
        left, right = (drawn[basis][0].get_xdata() for basis in ("whitened", "orthonormal"))
        assert np.all((places - 0.5 < left) & (left < places))  # side by side, as in the legend
        assert np.all((places < right) & (right < places + 0.5))
        points = [crosses, *(bars[0] for bars in drawn.values())]
        assert len({line.get_marker() for line in points} - {"None"}) == 3  # apart in grey print
        assert {line.get_linestyle() for line in points} == {"None"}
        assert all(crosses.zorder > line.zorder for line in points[1:])  # none is covered
    assert figure.axes[0].get_ylabel() == "rate (per cent)"
    assert len({ax.get_ylim() for ax in figure.axes}) == 1  # one scale, to compare methods by
    (key,) = figure.legends
    named = [text.get_text() for text in key.get_texts()]
    assert sorted(named) == ["ours, orthonormal", "ours, whitened", "the paper"]
    plt.close(figure)


def test_a_forest_and_a_grid_grow_with_their_rows():
    level = finding("level", 0.0, 0.5)
    heights = []
    for others in (("LDA", "MFA"), tuple("abcdefghijkl")):
        places = product((5,), others, ("whitened", "orthonormal"))
        grid = verdict_grid(dict.fromkeys(places, Verdict(0, 9, level, level)), others)
        rows = forest(dict.fromkeys(others, level)).figure
        heights.append((rows.get_figheight(), grid.get_figheight()))
    assert np.all(np.divide(*reversed(heights)) > 2)  # six times the rows
    plt.close("all")
