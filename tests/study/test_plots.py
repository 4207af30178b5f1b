"""Figures of real images, read back from what is drawn: which face stands where, and its label.

Every image here is of one grey value, its number, so that a picture tells which images it is made
of and in which order. At the end, how chapters show code and live figures, and how a PNG is made.
"""

import html
import io
import json
import re
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from sklearn.utils import Bunch

from slnp_edu.show import live, show_source, use_style
from slnp_study import plots
from slnp_study.plots import contact_sheet, draw_real_figures, image_grid, light_png, verdict_grid
from slnp_study.statistics import Finding, Verdict

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


def has_the_shape_of_its_images(figure):
    """No broad border is left on any side."""
    width, height = figure.get_size_inches()
    rows, columns = figure.axes[0].images[0].get_array().shape
    return height / width == pytest.approx(rows / columns, rel=0.05)


def test_a_grid_is_filled_row_by_row():
    ax = image_grid(numbered([7, 3, 5, 1, 2, 9]), columns=3, row_labels=["first", "second"])
    assert shown(ax) == [[7, 3, 5], [1, 2, 9]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second"]
    assert ax.get_yticks().tolist() == [HEIGHT / 2, HEIGHT + GAP + HEIGHT / 2]
    assert has_the_shape_of_its_images(ax.figure)
    plain = image_grid(numbered(range(12)))
    assert shown(plain)[0] == list(range(10))  # ten a row, if nothing else is asked for
    assert plain.get_xticks().size == plain.get_yticks().size == 0


@pytest.mark.parametrize("numbers", [[3, 9, 1], [0.25, 0.5, 0.125], [0, 0]])
def test_a_grid_is_black_at_zero_and_white_at_the_largest_of_all_its_images(numbers):
    (image,) = image_grid(numbered(numbers), gap=0).images
    white = max(numbers) or 1
    grey = image.to_rgba(np.array([0.0, *numbers]))[:, :3].T
    assert np.allclose(grey, [0, *(number / white for number in numbers)], atol=1 / 255)


def test_a_contact_sheet_has_classes_and_images_evenly_picked():
    target = np.repeat(np.arange(5), [4, 3, 5, 3, 7])
    images = numbered(np.arange(len(target)))
    sheet = Bunch(images=images, target=target, image_shape=(HEIGHT, WIDTH))
    figure = contact_sheet(sheet, classes=3, columns=3)
    assert shown(figure.axes[0]) == [[0, 1, 3], [7, 9, 11], [15, 18, 21]]  # classes 0, 2 and 4
    assert has_the_shape_of_its_images(figure)
    assert figure.axes[0].get_position().bounds == (0, 0, 1, 1)


def test_a_contact_sheet_has_six_classes_of_twelve_images_if_nothing_else_is_asked_for():
    target = np.repeat(np.arange(11), 23)
    sheet = Bunch(images=numbered(target), target=target, image_shape=(HEIGHT, WIDTH))
    (ax,) = contact_sheet(sheet).axes
    assert shown(ax) == [[c] * 12 for c in (0, 2, 4, 6, 8, 10)]


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
    paths = draw_real_figures(
        "yale_b", data, {"units": {"fig5-7/00": UNIT}}, tmp_path / "new" / "one"
    )
    assert all(path.read_bytes() == b"png" for path in paths)
    return {path.stem: figure for path, figure in zip(paths, figures, strict=True)}


def labels(ax, axis="x"):
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


def test_fig_5_has_a_curve_for_each_face_from_equal_shares_on(drawn):
    faces, curves = drawn["fig05"].axes
    assert shown(faces) == [UNIT["rows"]]
    assert faces.get_title() == "the reference, then faces 2 to 4"
    by_face = {
        "2": [0.25, 0.3, 0.4, 0.2],
        "3": [0.25, 0.3, 0.35, 0.5],
        "4": [0.25, 0.4, 0.25, 0.3],
    }  # 1/N_i first, then what each round has left
    assert sorted(line.get_ydata().tolist() for line in curves.lines) == sorted(by_face.values())
    assert all(line.get_xdata().tolist() == [0, 1, 2, 3] for line in curves.lines)
    ends = {note.get_text(): note.xy for note in curves.texts}
    assert ends == {face: (3, values[-1]) for face, values in by_face.items()}
    assert (curves.get_xlabel(), curves.get_ylabel()) == ("round", "similarity to the reference")
    assert curves.get_xticks().tolist() == [0, 2]  # every second round
    assert drawn.keys() == {"fig03", "fig05", "fig06", "fig07"}


def brightness(curve):
    line, _ = curve
    return sum(line.get_color()[:3])


def test_fig_5_shades_the_curves_by_where_they_end_and_no_label_covers_the_next():
    rng = np.random.default_rng(0)
    figure = plots.similarities_per_round(numbered(range(12)), rng.random((5, 11)), 1 / 12)
    faces, curves = figure.axes
    assert shown(faces) == [list(range(12))]  # in one row, however many they are
    dark_to_light = sorted(zip(curves.lines, curves.texts, strict=True), key=brightness)
    assert len(set(map(brightness, dark_to_light))) == 11  # each in its own shade
    ends = [line.get_ydata()[-1] for line, _ in dark_to_light]
    assert all(higher > lower for higher, lower in pairwise(ends))
    assert [note.xy[1] for _, note in dark_to_light] == ends
    asides = [note.xyann[0] for _, note in dark_to_light]
    assert len(set(asides)) == 3  # in three columns
    assert all(a != b for a, b in pairwise(asides))
    assert min(asides) > 0  # right of the end of its curve


def test_fig_6_sorts_the_faces_by_falling_similarity(drawn):
    learned, lpp = drawn["fig06"].axes
    assert "SLNP" in learned.get_title()
    assert "LPP" in lpp.get_title()
    assert shown(learned) == [[6, 9, 4, 2]]  # the last round: 0.5, 0.3, 0.2
    assert labels(learned) == ["reference", "3: 0.500", "4: 0.300", "2: 0.200"]
    assert shown(lpp) == [[6, 2, 4, 9]]
    assert labels(lpp) == ["reference", "2: 0.900", "4: 0.600", "3: 0.100"]
    below = [WIDTH / 2 + i * (WIDTH + GAP) for i in range(4)]  # each in the middle of its image
    assert learned.get_xticks().tolist() == lpp.get_xticks().tolist() == below


def test_figs_5_and_6_keep_the_order_of_faces_that_are_as_similar():
    """Equal ones, zeros say, would be sorted by every processor in its way but for a rule."""
    faces = numbered(range(41))
    zeros_and_halves = [0.5 * (k % 3 == 0) for k in range(40)]
    halves = list(range(1, 41, 3))
    falling = [*halves, *(k for k in range(1, 41) if k not in halves)]
    learned, lpp = plots.similarity_order(faces, zeros_and_halves, [0.0] * 40).axes
    assert shown(learned) == [[0, *falling]]
    assert shown(lpp) == [list(range(41))]
    curves = plots.similarities_per_round(faces, [zeros_and_halves], 1 / 41).axes[1]
    dark_to_light = sorted(zip(curves.lines, curves.texts, strict=True), key=brightness)
    assert [note.get_text() for _, note in dark_to_light] == [str(k + 1) for k in falling]


def test_fig_7_has_the_classes_of_largest_middle_and_least_gamma(drawn):
    (ax,) = drawn["fig07"].axes
    assert shown(ax) == [[2, 3], [0, 1], [4, 5]]
    expected = ["class 2\ngamma 9.50", "class 1\ngamma 4.00", "class 3\ngamma 2.25"]
    assert labels(ax, "y") == expected
    assert has_the_shape_of_its_images(drawn["fig07"])


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


class Shown:
    def with_docstring(self, x):
        """Say what is not shown.

        In more than one line.
        """
        y = x + 1  # a comment stays

        return y


def without_docstring(x):
    return [x,
            "\"\"\"no docstring\"\"\""]  # fmt: skip


def test_code_is_shown_as_it_stands_but_flush_left_and_without_its_docstring():
    method = "def with_docstring(self, x):\n    y = x + 1  # a comment stays\n\n    return y\n"
    assert show_source(Shown.with_docstring).data == f"```python\n{method}```"
    function = (
        "def without_docstring(x):\n    return [x,\n"
        '            "\\"\\"\\"no docstring\\"\\"\\""]  # fmt: skip\n'
    )
    both = show_source(without_docstring, Shown.with_docstring).data
    assert both == f"```python\n{function}```\n```python\n{method}```"


def test_a_live_figure_is_given_its_name_and_its_data_with_six_decimals():
    given = {
        "points": np.array([[1 / 3, -2.0], [1e-7, 123456.1234564]]),
        "labels": np.arange(3),
        "nested": [0.1 + 0.2, ["a", 2 / 3]],
        "degrees": np.float64(-1e-9),
        "count": np.int64(7),
        "small": True,
        "text": "a < b & \"c\" 'd'",
        "nothing": None,
    }
    asked = live("toy", **given).data
    figure, data = re.fullmatch(
        r'<div class="live" data-figure="([^"<>]*)" data-given="([^"<>]*)"></div>', asked
    ).groups()
    assert figure == "toy"
    assert json.loads(html.unescape(data)) == {
        "points": [[0.333333, -2.0], [0.0, 123456.123456]],
        "labels": [0, 1, 2],
        "nested": [0.3, ["a", 0.666667]],
        "degrees": 0.0,
        "count": 7,
        "small": True,
        "text": "a < b & \"c\" 'd'",
        "nothing": None,
    }
    assert "-0.0" not in data  # one zero on every processor
    assert "&quot;count&quot;: 7," in data  # whole numbers stay whole


def test_a_light_png_has_64_colours_and_else_is_the_figure_in_the_look_of_the_book():
    with plt.rc_context():
        use_style()
        figure, ax = plt.subplots(figsize=(2, 1))
        ax.imshow(np.arange(400).reshape(20, 20), aspect="auto")
        ax.set_title("shades")
        whole = io.BytesIO()
        figure.savefig(whole, format="png", dpi=90)
        another = plt.figure()
        light = light_png(figure, dpi=90)
    assert plt.get_fignums() == [another.number]
    before, after = Image.open(whole), Image.open(io.BytesIO(light))
    assert after.format == "PNG"
    assert after.size == before.size
    assert after.info["dpi"] == pytest.approx((90, 90), abs=0.1)
    assert len(after.getpalette()) == 3 * 64 < 3 * len(before.getcolors(100_000))
    assert len(light) < len(whole.getvalue())
    old, new = (np.asarray(image.convert("RGB"), dtype=float) for image in (before, after))
    assert np.abs(old - new).mean() < 4  # of 255
    assert np.array_equal(new[0, 0], [255, 255, 255])  # legible in dark mode
