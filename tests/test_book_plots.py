"""Figures of real images, read back from what is drawn: which face stands where, and its label.

Every image here is of one grey value, its number, so that a picture tells which images it is made
of and in which order.
"""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.utils import Bunch

from slnp_edu.book import contact_sheet, draw_real_figures, image_grid, plots, verdict_grid
from slnp_edu.evidence.statistics import Finding, Verdict

HEIGHT, WIDTH, GAP = 3, 4, 2


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    yield
    plt.close("all")


def numbered(numbers):
    return np.ones((1, HEIGHT, WIDTH)) * np.asarray(numbers, dtype=float)[:, None, None]


def shown(ax):
    """The numbers of the images in an Axes, row by row."""
    canvas = np.ma.filled(ax.images[0].get_array().astype(float), np.nan)
    tiles = canvas[:: HEIGHT + GAP, :: WIDTH + GAP]
    for top in range(tiles.shape[0]):
        for left in range(tiles.shape[1]):
            tile = canvas[top * (HEIGHT + GAP) :, left * (WIDTH + GAP) :][:HEIGHT, :WIDTH]
            assert np.all(tile == tile[0, 0]) or np.isnan(tile).all()
    gaps = np.delete(canvas, [i for i in range(len(canvas)) if i % (HEIGHT + GAP) < HEIGHT], axis=0)
    assert np.isnan(gaps).all()
    return tiles.tolist()


def test_a_grid_is_filled_row_by_row():
    ax = image_grid(numbered([7, 3, 5, 1, 2, 9]), columns=3, row_labels=["first", "second"])
    assert shown(ax) == [[7, 3, 5], [1, 2, 9]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second"]
    assert ax.get_yticks().tolist() == [HEIGHT / 2, HEIGHT + GAP + HEIGHT / 2]
    assert ax.images[0].get_clim() == (0, 9)  # black is 0, white the largest


def test_a_contact_sheet_has_classes_and_images_evenly_picked():
    target = np.repeat(np.arange(5), [4, 3, 5, 3, 7])
    images = numbered(np.arange(len(target)))
    sheet = Bunch(images=images, target=target, image_shape=(HEIGHT, WIDTH))
    figure = contact_sheet(sheet, classes=3, columns=3)
    assert shown(figure.axes[0]) == [[0, 1, 3], [7, 9, 11], [15, 18, 21]]  # classes 0, 2 and 4
    width, height = figure.get_size_inches()  # no border is left on any side
    rows, columns = figure.axes[0].images[0].get_array().shape
    assert height / width == pytest.approx(rows / columns)


#: Image 6 is the reference; similarities of the other three of its class to it.
UNIT = {
    "rows": [6, 2, 9, 4],
    "similarities": [[0.3, 0.3, 0.4], [0.4, 0.35, 0.25], [0.2, 0.5, 0.3]],
    "lpp": [0.9, 0.1, 0.6],
    "gamma": [4.0, 9.5, 2.25, 7.0, 3.0],
    "training_rows": [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]],
}


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Figs. 3 and 5 to 7 as matplotlib Figures."""
    figures = []
    monkeypatch.setattr(plots, "light_png", lambda figure, **_: figures.append(figure) or b"png")
    data = Bunch(
        images=numbered(np.arange(10)), target=np.arange(10) // 2, image_shape=(HEIGHT, WIDTH)
    )
    paths = draw_real_figures("yale_b", data, {"units": {"fig5-7/00": UNIT}}, tmp_path)
    assert all(path.read_bytes() == b"png" for path in paths)
    return {path.stem: figure for path, figure in zip(paths, figures, strict=True)}


def labels(ax, axis="x"):
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


def test_fig_5_has_a_curve_for_each_face_from_equal_shares_on(drawn):
    faces, curves = drawn["fig05"].axes
    assert shown(faces) == [UNIT["rows"]]
    by_face = {
        "2": [0.25, 0.3, 0.4, 0.2],
        "3": [0.25, 0.3, 0.35, 0.5],
        "4": [0.25, 0.4, 0.25, 0.3],
    }  # 1/N_i first, then what each round has left
    assert sorted(line.get_ydata().tolist() for line in curves.lines) == sorted(by_face.values())
    assert all(line.get_xdata().tolist() == [0, 1, 2, 3] for line in curves.lines)
    ends = {note.get_text(): note.xy for note in curves.texts}
    assert ends == {face: (3, values[-1]) for face, values in by_face.items()}


def test_fig_6_sorts_the_faces_by_falling_similarity(drawn):
    learned, lpp = drawn["fig06"].axes
    assert "SLNP" in learned.get_title()
    assert "LPP" in lpp.get_title()
    assert shown(learned) == [[6, 9, 4, 2]]  # the last round: 0.5, 0.3, 0.2
    assert labels(learned) == ["reference", "3: 0.500", "4: 0.300", "2: 0.200"]
    assert shown(lpp) == [[6, 2, 4, 9]]
    assert labels(lpp) == ["reference", "2: 0.900", "4: 0.600", "3: 0.100"]


def test_fig_7_has_the_classes_of_largest_middle_and_least_gamma(drawn):
    (ax,) = drawn["fig07"].axes
    assert shown(ax) == [[2, 3], [0, 1], [4, 5]]
    expected = ["class 2\ngamma 9.50", "class 1\ngamma 4.00", "class 3\ngamma 2.25"]
    assert labels(ax, "y") == expected


def test_fig_3_and_11_show_the_data_and_fig_10_the_larger_objects(monkeypatch, tmp_path):
    shown_sheets, asked = [], []
    monkeypatch.setattr(plots, "light_png", lambda figure, **_: b"")

    def sheet(data, **options):
        shown_sheets.append((data, options))

    def objects(*args, **options):
        asked.append((args, options))
        return "objects of 32 x 32"

    monkeypatch.setattr(plots, "contact_sheet", sheet)
    monkeypatch.setattr(plots, "load_coil100", objects)
    assert [p.name for p in draw_real_figures("coil100", "small", {}, tmp_path)] == ["fig10.png"]
    assert [p.name for p in draw_real_figures("mnist", "digits", {}, tmp_path)] == ["fig11.png"]
    assert shown_sheets == [("objects of 32 x 32", {}), ("digits", {"classes": 10})]
    assert asked == [(("real",), {"size": 32})]


def test_the_grid_of_verdicts_has_these_images_if_asked_and_says_whose_words_they_are():
    these, such = Finding("ahead", 2.0, 0.5, 0, 1), Finding("undecided", 2.5, 3.0, 1, 1)
    verdicts = {(5, "LDA", basis): Verdict(1, 9, these, such) for basis in plots.COMMON_BASES}
    figure = verdict_grid(verdicts, ("LDA",), scope="these")
    assert [text.get_text() for ax in figure.axes for text in ax.texts] == ["+2.0", "+2.0"]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["SLNP ahead", "level", "undecided", "SLNP behind"]
