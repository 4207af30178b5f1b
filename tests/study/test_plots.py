"""Figures and tables, read back: the numbers and images in them are those of the data.

Every image here is of one grey value, its number, so that a picture tells which images it's made
of and in which order.
"""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import t
from sklearn.utils import Bunch

from slnp_study import paper, plots
from slnp_study.statistics import Estimate, Finding
from slnp_study.tables import against_paper, differences_table

HEIGHT, WIDTH, GAP = 3, 4, 2
#: Standard deviation 1 over four splits.
FOUR = np.array([-1.0, -1.0, 1.0, 1.0]) * np.sqrt(3) / 2
MEAN_HALF, FIVE_HALF = t.ppf(0.975, 3) / 2, t.ppf(0.975, 3) * np.sqrt(0.45)


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    yield
    plt.close("all")


def labels(ax, axis="x"):
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


# Images


def numbered(numbers):
    return np.ones((1, HEIGHT, WIDTH)) * np.asarray(numbers, dtype=float)[:, None, None]


def shown(ax):
    """The numbers of the images in an Axes, row by row."""
    canvas = np.ma.filled(ax.images[0].get_array().astype(float), np.nan)
    tiles = canvas[:: HEIGHT + GAP, :: WIDTH + GAP]
    whole = np.kron(tiles, np.pad(np.ones((HEIGHT, WIDTH)), (0, GAP), constant_values=np.nan))
    np.testing.assert_array_equal(canvas, whole[:-GAP, :-GAP])
    return tiles.tolist()


def test_a_grid_is_filled_row_by_row_black_at_zero_and_white_at_the_largest_of_all():
    numbers = [7, 3, 5, 1, 2, 9]
    ax = plots.image_grid(numbered(numbers), columns=3, row_labels=["first", "second"])
    assert shown(ax) == [numbers[:3], numbers[3:]]
    assert dict(zip(ax.get_yticks(), labels(ax, "y"), strict=True)) == {1.5: "first", 6.5: "second"}
    grey = ax.images[0].to_rgba(np.array([0.0, *numbers]))[:, 0]
    assert np.allclose(grey, np.array([0, *numbers]) / 9, atol=1 / 255)


def test_a_contact_sheet_has_classes_and_images_evenly_picked():
    target = np.repeat(np.arange(5), [4, 3, 5, 3, 7])
    images = numbered(np.arange(len(target)))
    sheet = Bunch(images=images, target=target, image_shape=(HEIGHT, WIDTH))
    figure = plots.contact_sheet(sheet, classes=3, columns=3)
    assert shown(figure.axes[0]) == [[0, 1, 3], [7, 9, 11], [15, 18, 21]]  # classes 0, 2 and 4


#: Image 6 is the reference; similarities of the other three of its class to it.
UNIT = {
    "rows": [6, 2, 9, 4],
    "similarities": [[0.3, 0.3, 0.4], [0.4, 0.35, 0.25], [0.2, 0.5, 0.3]],
    "lpp": [0.9, 0.1, 0.6],
    "gamma": [4.0, 9.5, 2.25, 7.0, 3.0],
    "training_rows": [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]],
}


def test_the_figures_of_faces_show_what_was_recorded(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(plots, "light_png", lambda figure: drawn.append(figure) or b"png")
    images, target = numbered(np.arange(10)), np.arange(10) // 2
    data = Bunch(images=images, target=target, image_shape=(HEIGHT, WIDTH))
    paths = plots.draw_real_figures("yale_b", data, {"units": {"fig5-7/00": UNIT}}, tmp_path)
    figures = {path.stem: figure.axes for path, figure in zip(paths, drawn, strict=True)}
    assert list(figures) == ["fig03", "fig05", "fig06", "fig07"]

    faces, curves = figures["fig05"]
    assert shown(faces) == [UNIT["rows"]]
    by_face = {"2": [0.3, 0.4, 0.2], "3": [0.3, 0.35, 0.5], "4": [0.4, 0.25, 0.3]}
    drawn_curves = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in curves.lines]
    expected = [([0, 1, 2, 3], [0.25, *values]) for values in by_face.values()]  # 1/N_i first
    assert sorted(drawn_curves) == sorted(expected)
    ends = {note.get_text(): note.xy for note in curves.texts}
    assert ends == {face: (3, values[-1]) for face, values in by_face.items()}

    learned, lpp = figures["fig06"]
    assert shown(learned) == [[6, 9, 4, 2]]  # the last round: 0.5, 0.3, 0.2
    assert labels(learned) == ["reference", "3: 0.500", "4: 0.300", "2: 0.200"]
    assert shown(lpp) == [[6, 2, 4, 9]]
    assert labels(lpp) == ["reference", "2: 0.900", "4: 0.600", "3: 0.100"]

    (classes,) = figures["fig07"]  # of the largest, the middle and the least gamma
    assert shown(classes) == [[2, 3], [0, 1], [4, 5]]
    expected = ["class 2\ngamma 9.50", "class 1\ngamma 4.00", "class 3\ngamma 2.25"]
    assert labels(classes, "y") == expected


# Differences and their words


def finding(word, points, interval):
    return Finding(word, points, interval, 0.5, 0.5)


#: The findings for these and for new images differ in every field.
VERDICTS = {
    ("LDA", 10): (finding("ahead", 2.0, 0.5), finding("undecided", 2.5, 3.0)),
    ("LDA", 5): (finding("behind", -3.0, 0.4), finding("ahead", 3.5, 1.25)),
    ("MFA", 10): (finding("level", 0.1, 0.3), finding("behind", -0.2, 0.15)),
    ("MFA", 5): (finding("undecided", 0.4, 0.9), finding("level", 0.0, 0.6)),
}


def test_the_grid_has_the_points_and_the_colour_of_the_word():
    found = {(other, str(N_i)): these for (other, N_i), (these, _) in VERDICTS.items()}
    figure, ax = plt.subplots()
    plots.word_grid(ax, found, ("MFA", "LDA"), ("5", "10"))
    plots.word_legend(figure)
    (key,) = figure.legends
    names = [text.get_text().removeprefix("SLNP ") for text in key.get_texts()]
    colours = {
        patch.get_facecolor(): name for name, patch in zip(names, key.get_patches(), strict=True)
    }
    assert len(colours) == 6
    assert (labels(ax), labels(ax, "y")) == (["5", "10"], ["MFA", "LDA"])
    points = {text.get_position(): float(text.get_text()) for text in ax.texts}
    said = {
        tuple(np.round(patch.get_center(), 6)): colours[patch.get_facecolor()]
        for patch in ax.patches
    }
    for (x, N_i), (y, other) in product(enumerate(("5", "10")), enumerate(("MFA", "LDA"))):
        assert points[x, y] == pytest.approx(found[other, N_i].points)
        assert said[x, y] == found[other, N_i].word


def rows_of(markdown):
    lines = [line.strip("| ").split(" | ") for line in markdown.data.splitlines()]
    return [lines[0], *lines[2:]]


def test_differences_table_has_points_half_width_and_the_word_if_there_is_one():
    behind, ahead = VERDICTS["LDA", 5]
    rows = {
        "LDA": {"faces": ahead, "digits": behind},
        "K": {"faces": Estimate(-1.0, 0.5, 3), "digits": Estimate(0.25, 0.01, 3)},
        "d": {"faces": Estimate(-0.001, 0.002, 3), "digits": None},
    }
    assert rows_of(differences_table("SLNP - other", rows)) == [
        ["SLNP - other", "faces", "digits"],
        ["LDA", "+3.50±1.25 **ahead**", "−3.00±0.40 *behind*"],
        ["K", f"*−1.00±{0.5 * t.ppf(0.975, 3):.2f}*", "+0.25±0.03"],  # an interval that holds zero
        ["d", "*+0.00±0.01*", "–"],
    ]


# Beside the paper


@pytest.mark.parametrize("gap", [2.021, -2.021, 2.281, -2.281])
def test_ours_beside_the_papers_in_numbers_and_drawn(gap):
    """The half-width of the mean of five more splits is 2.13 here, that of the mean 1.59."""
    methods = ("SLNP", "LFDA", "LFDA, c = 0.1")
    printed = {m: np.array(paper.RATES["mnist"][m.split(",")[0]]) for m in methods}
    off = {"whitened": -gap, "orthonormal": -20, "unit": 20}
    columns = {
        N_i: {m: {b: printed[m][i] + off[b] + FOUR for b in off} for m in methods}
        for i, N_i in enumerate(paper.DIMENSIONS["mnist"])
    }
    header, *rows = rows_of(against_paper(columns, "mnist", methods))
    assert header[1:] == ["5", "10", "15", "20", "25", "30"]
    found = {row[0]: [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in row[1:]] for row in rows}
    assert found.pop("SLNP, the paper") == [f"{rate:.2f}" for rate in printed["SLNP"]]
    assert found.pop("LFDA, the paper") == [f"{rate:.2f}" for rate in printed["LFDA"]]
    mark = "**" if abs(gap) < FIVE_HALF else ""
    axes = plots.beside_paper(columns, "mnist", methods).axes
    for method, ax in zip(methods, axes, strict=True):
        assert (ax.get_title(), labels(ax)) == (method, header[1:])
        drawn = {bars.get_label(): bars for bars in ax.containers}
        for basis, points in off.items():
            bold = mark if basis == "whitened" else ""
            cells = [f"{bold}{r + points:.1f} ± {MEAN_HALF:.1f}{bold}" for r in printed[method]]
            assert found.pop(f"{method}, {basis}") == cells
            assert np.allclose(drawn[basis][0].get_ydata(), points)
            assert np.allclose(drawn[basis][0].get_xdata().round(), range(6))
            low, high = np.array(drawn[basis][2][0].get_segments())[:, :, 1].T
            assert np.allclose([points - low, high - points], FIVE_HALF)
    assert not found
