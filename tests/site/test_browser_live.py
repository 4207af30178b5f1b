"""The live figures in a real browser: what a reader drags is what `slnp_edu` computes.

`make browser` runs this after the book is built. The pages are opened as files, without a server,
as a reader may do.
"""

import json
from itertools import islice, product

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import t
from test_browser_pages import HTML

from slnp_edu.slnp import SLNP, rounds
from slnp_edu.steps import (
    exact_s_step,
    gamma_bounds,
    gamma_step,
    neighbours,
    objective,
    s_step,
    w_step,
)
from slnp_study import multiverse, paper
from slnp_study.statistics import Difference, Estimate, judge

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
#: Page, figure, and the handle that is dragged: (which panel, its name).
FIGURES = [
    ("01-toy", "toy", "fish c"),
    ("01-toy", "toy", "angle of the axis"),
    ("01-toy", "rounds", "fish 7 of 60, kind 0"),
    ("04-s-step", "simplex", "point that is projected"),
    ("04-s-step", "simplex", "distance of the 8th neighbour"),
    ("05-gamma-step", "gamma", "gamma"),
    ("05-gamma-step", "gamma", "where the line meets the axis"),
    ("06-w-step", "springs", "angle of the axis"),
    ("06-w-step", "springs", "angle of the axis, on the curve"),
    ("06-w-step", "bases", "new fish, the star"),
    ("07-algorithm", "rounds", "fish 20 of 60, kind 1"),
    ("13-verdict", "multiverse", "your specification"),
    ("09-fair-comparison", "words", "estimate"),
    ("09-fair-comparison", "words", "interval for new images"),
]
BY_SLIDER = {("11-learning", "learning"), ("index", "multiverse")}  # nothing to drag in these
PAGES = sorted({(page, figure) for page, figure, _ in FIGURES} | BY_SLIDER)
every_handle = pytest.mark.parametrize(("name", "figure", "handle"), FIGURES)
every_figure = pytest.mark.parametrize(("name", "figure"), PAGES)


@pytest.fixture
def visit(open_context):
    """Open a page, wide or as on a phone; return it and the figure asked for."""
    if not (HTML / "book").exists():
        pytest.skip("the book is not built: run make book")
    contexts = []

    def visit(name, figure, **options):
        options = {"viewport": {"width": 1280, "height": 900}} | options
        contexts.append(open_context(**options))
        page = contexts[-1].new_page()
        page.goto((HTML / "book" / f"{name}.html").as_uri(), wait_until="domcontentloaded")
        root = page.locator(f".live[data-figure={figure}]")
        if options.get("java_script_enabled", True):
            page.wait_for_function("node => node.dataset.state", arg=root.element_handle())
        return page, root

    yield visit
    for context in contexts:
        context.close()


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def state_of(root):
    return json.loads(root.get_attribute("data-state"))


def given(root):
    return json.loads(root.get_attribute("data-given"))


def handle_of(root, name):
    return root.get_by_role("slider", name=name, exact=True)


def centre(handle):
    box = handle.locator(".live-hit").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def in_view(handle):
    handle.evaluate("node => node.scrollIntoView({block: 'center', behavior: 'instant'})")


# ------------------------------------------------------------- what each figure must have computed


def check_toy(state, given):
    points = np.array(state["points"])
    u = np.array([np.cos(np.radians(state["degrees"])), np.sin(np.radians(state["degrees"]))])
    assert state["nearest"] == "abc"[neighbours((points @ u)[:, None], [0, 0, 0], 1)[0][0, 0]]
    low, high = state["range"]
    for degrees in np.arange(0.25, 180, 0.5):  # the arcs, against the distances themselves
        if min(abs((degrees - edge + 90) % 180 - 90) for edge in (low, high)) < 1e-6:
            continue
        u = np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        to_b, to_c = np.abs((points[1:] - points[0]) @ u)
        assert (to_c < to_b) == (low < degrees < high or low < degrees + 180 < high)


def check_simplex(state, given):
    s = exact_s_step([state["d"]], [state["gamma"]])[0]
    np.testing.assert_allclose(state["s"], s, **CLOSE)
    assert state["support"] == np.sum(s > 0)
    q = np.array(state["d"]) / (2 * state["gamma"])
    np.testing.assert_allclose(np.maximum(state["eta"] - q, 0), s, **CLOSE)


def check_gamma(state, given):
    d, K, gamma = np.array(given["d"]), given["K"], [state["gamma"]]
    np.testing.assert_allclose(
        [[state["lower"]], [state["upper"]]], gamma_bounds([d[: K + 1]]), **CLOSE
    )
    np.testing.assert_allclose(state["rule"], gamma_step([d[:K]])[0], **CLOSE)
    s, five = exact_s_step([d], gamma), s_step([d[:K]], gamma)
    np.testing.assert_allclose(state["s"], s[0], **CLOSE)
    np.testing.assert_allclose(state["J"], objective([d], s, gamma), **CLOSE)
    np.testing.assert_allclose(state["J_of_K"], objective([d[:K]], five, gamma), **CLOSE)
    assert state["count"] == np.sum(s > 0)


def check_springs(state, given):
    X, y = np.array(given["X"]), np.array(given["y"])
    X = X - X.mean(axis=0)
    first = next(rounds(X, y, d=1, K=given["K"]))
    np.testing.assert_allclose(state["tied"], first.W, **CLOSE)
    w, value = w_step(X, first.S, 1)
    np.testing.assert_allclose(state["least"], 2 * value[0], **CLOSE)
    np.testing.assert_allclose(state["best"], np.degrees(np.arctan2(*w[::-1, 0])) % 180, rtol=1e-9)
    u = np.array([[np.cos(np.radians(state["degrees"]))], [np.sin(np.radians(state["degrees"]))]])
    Y = X @ (u / np.sqrt(u.T @ X.T @ X @ u))
    np.testing.assert_allclose(state["energy"], np.sum(first.S.toarray() * (Y - Y.T) ** 2), **CLOSE)


def check_bases(state, given):
    X, y, query = (np.array(thing) for thing in (given["X"], given["y"], state["query"]))
    delta, centred = X - query, X - X.mean(axis=0)
    squared = {
        "orthonormal": np.sum(delta**2, axis=1),
        "whitened": np.sum(delta @ np.linalg.inv(centred.T @ centred) * delta, axis=1),
    }
    for (basis, found), kind in zip(squared.items(), state["kinds"], strict=True):
        assert state[basis]["index"] == found.argmin()
        np.testing.assert_allclose(state[basis]["distance"], np.sqrt(found.min()), **CLOSE)
        assert kind == y[found.argmin()]


def check_rounds(state, given):
    """Of a state in which nothing has moved since the start."""
    X, y = np.array(state["X"]), np.array(given["y"])
    ours = list(islice(rounds(X, y, d=1, K=given["K"]), state["rounds"]))
    np.testing.assert_allclose(state["W"], ours[-1].W, **CLOSE)
    np.testing.assert_allclose(state["gamma"], ours[-1].gamma, **CLOSE)
    ends = [J for J, step in zip(state["J"], state["steps"], strict=True) if step in ("start", "S")]
    np.testing.assert_allclose(ends, [r.J for r in ours], **CLOSE)
    model = SLNP(1, given["K"], max_iter=state["rounds"], tol=0).fit(X, y)
    np.testing.assert_allclose(ends, model.objective_, **CLOSE)
    np.testing.assert_allclose(
        np.ravel(state["W"]),
        model.components_[0] * np.sign(model.components_[0] @ ours[-1].W),
        **CLOSE,
    )


def check_multiverse(state, given):
    [name] = [key for key, facts in paper.DATASETS.items() if facts["name"] == state["set"]]
    small = given.get("small")
    ours, theirs, _ = (multiverse.rates if small else multiverse.every_rate)(name)
    choices = multiverse.CHOICES if small else multiverse.EVERY
    made = [ways.index(state["made"][choice]) for choice, ways in choices.items()]
    assert abs(state["lead"] - (ours - theirs)[*made]) < 0.002  # as two bytes tell it


def check_words(state, given):
    error = state["interval"] / t.ppf(0.975, 19)
    difference = Difference(0, 0, 0, Estimate(state["points"], error, 19), None)
    assert judge({0: difference}, state["margin"])[0].these.word == state["word"]


CHECKS = {
    "words": check_words,
    "multiverse": check_multiverse,
    "toy": check_toy,
    "simplex": check_simplex,
    "gamma": check_gamma,
    "springs": check_springs,
    "bases": check_bases,
}


def check(root, press):
    """The figure's state equals what the module computes on the moved data."""
    if root.get_attribute("data-figure") != "rounds":
        return CHECKS[root.get_attribute("data-figure")](state_of(root), given(root))
    moved = state_of(root)
    assert moved["steps"][-1] == "moved"
    assert np.sum(np.abs(np.subtract(moved["X"], given(root)["X"])).max(axis=1) > 0.01) == 1
    press("Start again")
    for _ in range(3):
        press("One round")
    assert state_of(root)["rounds"] == 4
    assert state_of(root)["X"] == moved["X"]
    check_rounds(state_of(root), given(root))


# --------------------------------------------------------------------- by mouse, finger, keyboard


@every_handle
def test_by_mouse(visit, name, figure, handle):
    page, root = visit(name, figure)
    grip = handle_of(root, handle)
    in_view(grip)
    before = root.get_attribute("data-state")
    x, y = centre(grip)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 14, y - 9, steps=4)
    page.mouse.move(x + 31, y - 22, steps=4)
    page.mouse.up()
    assert root.get_attribute("data-state") != before
    page.mouse.move(x + 90, y + 60)  # let go: it stays
    after = root.get_attribute("data-state")
    check(root, lambda label: root.get_by_role("button", name=label, exact=True).click())
    if figure != "rounds":
        assert root.get_attribute("data-state") == after


@every_handle
def test_by_touch_on_a_phone(visit, name, figure, handle):
    page, root = visit(name, figure, **PHONE)
    grip = handle_of(root, handle)
    in_view(grip)
    before, scrolled = root.get_attribute("data-state"), page.evaluate("scrollY")
    x, y = centre(grip)
    finger = page.context.new_cdp_session(page)

    def touch(kind, *places):
        points = [{"x": x + dx, "y": y + dy} for dx, dy in places]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (0, 0))
    for part in np.linspace(0.2, 1, 5):
        touch("touchMove", (25 * part, -30 * part))
    touch("touchEnd")
    page.wait_for_function(
        "([node, before]) => node.dataset.state !== before", arg=[root.element_handle(), before]
    )
    assert page.evaluate("scrollY") == scrolled  # the finger dragged, the page stood
    check(root, lambda label: root.get_by_role("button", name=label, exact=True).tap())


def tab_to(page, root, accept):
    """Press Tab from above the figure until the focused element is the one."""
    root.evaluate("node => { node.tabIndex = -1; node.focus(); }")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(f"(({accept}))(document.activeElement)"):
            return
    raise AssertionError("the tab key does not lead there")


@every_handle
def test_by_keyboard_alone(visit, name, figure, handle):
    page, root = visit(name, figure)
    grip = handle_of(root, handle)
    if figure == "rounds":  # one stop for all fish; from the first one Page Down leads on
        tab_to(page, root, "node => node.getAttribute('role') === 'slider'")
        for _ in range(int(handle.split()[1]) - 1):
            page.keyboard.press("PageDown")
    else:
        tab_to(page, root, f"node => node.getAttribute('aria-label') === '{handle}'")
    assert grip.evaluate("node => node === document.activeElement")
    ring = "node => getComputedStyle(node.querySelector('.live-hit')).stroke"
    assert grip.evaluate(ring) not in ("none", "rgba(0, 0, 0, 0)")  # the focus is seen
    before, said = root.get_attribute("data-state"), grip.get_attribute("aria-valuetext")
    line = root.get_by_role("status")
    told = line.inner_text()
    for key in ("ArrowUp", "ArrowUp", "ArrowRight", "Shift+ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    assert root.get_attribute("data-state") != before
    assert grip.get_attribute("aria-valuetext") != said
    assert line.inner_text() != told

    def press(label):
        tab_to(page, root, f"node => node.textContent === '{label}'")
        page.keyboard.press("Enter")

    check(root, press)


def test_gamma_by_the_slider_of_chapter_4(visit):
    page, root = visit("04-s-step", "simplex")
    tab_to(page, root, "node => node.type === 'range'")
    before = state_of(root)["gamma"]
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    assert state_of(root)["gamma"] > 2 * before
    assert state_of(root)["support"] == 3  # the third comes back
    check_simplex(state_of(root), given(root))


def test_readings_and_anchor_of_chapter_11(visit):
    _, root = visit("11-learning", "learning")
    readings, anchor = root.locator("input").all()
    for _ in range(20):
        readings.press("ArrowRight")
        anchor.press("ArrowRight")
    root.get_by_role("button", name="Young only").click()
    found, data = state_of(root), given(root)
    assert found["readings"] == 30  # one more with each press, to the last
    assert found["anchor"] > 0.1
    assert found["clumps"] == 1
    X, Z = (
        np.c_[
            np.array(fish["flicker"])[:, : found["readings"]], fish["length"][found["clumps"] - 1]
        ]
        for fish in (data["old"], data["fresh"])
    )
    y, truth = np.array(data["old"]["y"]), np.array(data["fresh"]["y"])
    ours = rounds(X, y, d=2, K=data["K"], anchor=found["anchor"])
    for r, rate, J in zip(ours, found["rates"], found["J"], strict=False):
        nearest = cdist(Z @ r.W, X @ r.W).argmin(axis=1)
        expected = 100 * np.mean(y[nearest] == truth), r.J
        np.testing.assert_allclose((rate, J), expected, **CLOSE)


def test_every_choice_of_the_multiverse_can_be_made(visit):
    _, root = visit("13-verdict", "multiverse")
    start = state_of(root)["made"]
    root.get_by_label("data set").select_option("digits")
    root.locator("input").press("End")  # the narrowest width
    for name, ways in list(multiverse.EVERY.items())[1:]:
        by_name = root.get_by_label(name, exact=True)
        by_name.select_option(ways[-1] if start[name] != ways[-1] else ways[0])
        root.get_by_label("a curve for each").select_option(name)
        assert root.locator("svg path.chosen").count() == 1
        assert root.locator("svg path[class^=way-]").count() == len(ways) + 1  # and the chosen one
    found = state_of(root)
    assert found["set"] == "digits"
    assert all(found["made"][name] != start[name] for name in multiverse.EVERY)
    check_multiverse(found, given(root))
    root.get_by_role("button", name="Reset all choices").click()
    assert state_of(root)["made"] == start


both_pages = pytest.mark.parametrize("name", ["index", "13-verdict"])
both_widths = pytest.mark.parametrize("width", [390, 1280])


@both_pages
@both_widths
def test_one_press_of_an_arrow_key_changes_the_kernel_and_the_slider_stays(visit, name, width):
    _, root = visit(name, "multiverse", viewport={"width": width, "height": 844})
    kernel = root.locator("input")
    kernel.press("Home")
    place = kernel.bounding_box()
    for way in multiverse.KERNELS[1:]:
        kernel.press("ArrowRight")
        assert state_of(root)["made"][multiverse.KERNEL] == way
        assert kernel.bounding_box() == place


def test_home_and_end_move_the_dot_and_not_the_page(visit):
    page, root = visit("13-verdict", "multiverse")
    dot = handle_of(root, "your specification")
    in_view(dot)
    scrolled = page.evaluate("scrollY")
    for key, place in {"End": "2,592", "Home": "1"}.items():
        dot.press(key)
        assert f"number {place} of 2,592" in root.get_by_role("status").inner_text()
    assert page.evaluate("scrollY") == scrolled


@both_widths
def test_no_name_of_a_curve_is_cut_or_on_another(visit, width):
    _, root = visit("13-verdict", "multiverse", viewport={"width": width, "height": 844})
    for name, data_set in product(multiverse.EVERY, ("faces", "objects", "digits")):
        root.get_by_label("data set").select_option(data_set)
        root.get_by_label("a curve for each").select_option(name)
        for way in multiverse.EVERY[name] if name != multiverse.KERNEL else ():
            root.get_by_label(name, exact=True).select_option(way)
            assert root.evaluate(CUT) == []
        names = root.locator("text.small[text-anchor=start]").all()
        heights = sorted(float(text.get_attribute("y")) for text in names)
        assert len(heights) == len(multiverse.EVERY[name]) + 2  # and the printed lead, and the axis
        assert np.diff(heights).min() > 12


@pytest.mark.parametrize(
    ("name", "figure", "handle", "answer"),
    [
        ("01-toy", "toy", "angle of the axis", "c' is the nearest from"),
        ("05-gamma-step", "gamma", "gamma", "The formula for 5 would give"),
        ("06-w-step", "springs", "angle of the axis", "The least is"),
        ("09-fair-comparison", "words", "estimate", "The 95 % interval"),
    ],
)
def test_the_answer_is_told_only_after_the_reader_has_moved_something(
    visit, name, figure, handle, answer
):
    page, root = visit(name, figure)
    line = root.get_by_role("status")
    assert line.inner_text()  # the state is told at once
    assert answer not in line.inner_text()
    arcs = root.locator(".arc-b, .arc-c")
    assert arcs.count() == 0
    handle_of(root, handle).focus()
    page.keyboard.press("ArrowRight")
    assert answer in line.inner_text()
    assert (arcs.count() > 0) == (figure == "toy")


def test_the_steps_one_by_one_and_a_reader_can_make_J_rise(visit):
    page, root = visit("07-algorithm", "rounds")
    for label in ("W", "gamma", "S", "One round"):
        root.get_by_role("button", name=label, exact=True).click()
    state = state_of(root)
    assert state["steps"] == ["start", *["W", "gamma", "S"] * 2]
    X, y = np.array(state["X"]), np.array(given(root)["y"])
    first, second, *_ = islice(rounds(X, y, d=1, K=5), 3)
    Y = X @ second.W
    pairs, S = (Y - Y.T) ** 2, first.S.toarray()
    by_hand = [objective(pairs, S, first.gamma), objective(pairs, S, second.gamma), second.J]
    np.testing.assert_allclose(state["J"][:4], [first.J, *by_hand], **CLOSE)
    fish = handle_of(root, "fish 20 of 60, kind 1")
    fish.focus()
    for _ in range(30):
        page.keyboard.press("ArrowUp")
    risen = state_of(root)
    assert risen["J"][-1] > state["J"][-1]
    assert "up from" in root.get_by_role("status").inner_text()
    w, Z = np.array(risen["W"]), np.array(risen["X"])
    Z = Z - Z.mean(axis=0)
    np.testing.assert_allclose(w.T @ Z.T @ Z @ w, 1, **CLOSE)  # still whitened


# --------------------------------------------------------------- without scripts, on paper, looks


@every_figure
def test_the_still_picture_stands_without_scripts_and_on_paper(visit, name, figure):
    _, alone = visit(name, figure, java_script_enabled=False)
    page, root = visit(name, figure)
    holder = "finding" if name == "index" else "cell_output"
    beside = f"xpath=ancestor::div[contains(@class, '{holder}')]"
    panels = root.locator(".live-panels")
    assert panels.is_visible()
    assert not root.locator(beside).locator("img").is_visible()
    page.emulate_media(media="print")
    assert not panels.is_visible()
    for place in (root, alone):
        still = place.locator(beside).locator("img")
        assert still.get_attribute("alt")
        still.wait_for()  # until it is loaded and seen
        assert still.bounding_box()["width"] > 200
    assert alone.locator("svg, button").count() == 0


# What is drawn but cannot be seen: neither its stroke nor its fill differs from the ground. A
# canvas turns colours into numbers. What is there to be touched alone is not drawn.
UNSEEN = """root => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const backing = node => getComputedStyle(node).backgroundColor;
  let ground = root;
  while (backing(ground) === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
  const shade = (...colours) => {
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const differs = (paint, opacity) => {
    if (paint === "none") return false;
    canvas.globalAlpha = 1;
    const below = shade(backing(ground));
    canvas.globalAlpha = opacity;
    return Math.max(...shade(paint).map((part, i) => Math.abs(part - below[i]))) > 20;
  };
  return [...root.querySelectorAll("svg :is(circle, path, line, rect, text):not(.live-hit)")]
    .filter(node => {
      const style = getComputedStyle(node);
      return !(node.checkVisibility({opacityProperty: true, visibilityProperty: true})
        && (differs(style.fill, style.fillOpacity) && node.tagName !== "line"
          || differs(style.stroke, style.strokeOpacity) && parseFloat(style.strokeWidth) > 0));
    }).map(node => node.outerHTML.slice(0, 120));
}"""


@every_figure
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_drawn_is_seen(visit, name, figure, scheme):
    page, root = visit(name, figure, color_scheme=scheme)
    handle = root.get_by_role("slider").first
    handle.press("ArrowRight")  # some is drawn only then
    assert root.evaluate(UNSEEN) == []
    look = root.locator("svg :is(circle, path, line, rect)[class]:not(.live-hit)").first
    hide = f".{look.get_attribute('class').split()[0]} {{ stroke: none; fill: none }}"
    page.add_style_tag(content=f".live svg {hide}")
    assert root.evaluate(UNSEEN) != []


# Text that leaves its picture, or a control that leaves the figure.
CUT = """root => [...root.querySelectorAll("svg text, label > *, button")].filter(node => {
  const [a, b] = [node, node.ownerSVGElement || root].map(box => box.getBoundingClientRect());
  return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1
    || a.bottom > b.bottom + 1 || node.matches("span") && node.scrollWidth > node.clientWidth + 1;
}).map(node => node.textContent)"""


@every_figure
def test_a_figure_fits_a_phone_with_its_controls(visit, name, figure):
    page, root = visit(name, figure, **PHONE)
    bar = page.locator(".bd-header-article").bounding_box()["height"]
    top = root.bounding_box()["y"]
    for part in (".live-state", ".live-controls"):
        box = root.locator(part).bounding_box() or {"y": top, "height": 0}  # none where it's empty
        assert box["y"] + box["height"] - top <= PHONE["viewport"]["height"] - bar
    for target in root.locator(".live-hit, button, input, select").all():
        size = target.bounding_box()
        assert min(size["width"], size["height"]) >= 32


@every_figure
@pytest.mark.parametrize("width", [390, 1280])
def test_text_is_legible(visit, name, figure, width):
    _, root = visit(name, figure, viewport={"width": width, "height": 844})
    sizes = root.evaluate("""root => [...root.querySelectorAll("text")].map(text =>
        parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a)""")
    assert min(sizes) >= 10
    assert root.evaluate(CUT) == []
