"""The live figures: their steps in node beside those of slnp_edu, their data, their place.

What a reader does with them is tried in a browser, by tests/site/test_browser_live.py.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from scipy.stats import t

from slnp_edu import steps
from slnp_edu.show import CLASS_COLOURS, COLOURS, METHOD_COLOURS
from slnp_study.statistics import WORDS, Difference, Estimate, judge

BOOK = Path(__file__).parents[2] / "book"
STATIC = BOOK / "_static"
NODE = shutil.which("node")
CASES = 300
CLOSE = 1e-9
HARNESS = """
const steps = require(process.argv[1]);
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"), read);
function read(key, value) {
  return value === "inf" ? Infinity : value === "-inf" ? -Infinity : value;
}
const found = cases.map(([name, given]) => steps[name](...given));
console.log(JSON.stringify(found, (key, value) => value === Infinity ? "inf" : value));
"""
OF_WORDS = """
globalThis.live = {figures: {}};
require(process.argv[1]);
const cases = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(cases.map(given => live.word(...given).word)));
"""


def plain(value):
    """As JSON can hold it."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value.item() if isinstance(value, np.generic) else value


def in_node(cases):
    """What steps.js returns for each (name, arguments)."""
    return run(HARNESS, "steps.js", [[name, plain(arguments)] for name, arguments in cases])


def run(harness, script, given):
    command = [NODE, "-e", harness, str(STATIC / script)]
    given = json.dumps(given)
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


# ---------------------------------------------------------------------------------------- the cases


def some_points(rng, case, d=2):
    """Points and labels: of a continuum, on a grid (ties, duplicates), or of tiny classes."""
    n = int(rng.integers(2, 15))
    y = rng.integers(0, [1, 2, n][case % 3], size=n) if case % 3 else np.zeros(n, int)
    Y = rng.normal(size=(n, d)) if case % 2 else rng.integers(-2, 3, size=(n, d)).astype(float)
    return 10.0 ** rng.integers(-3, 4) * Y, y


def some_distances(rng, case):
    """Rows of squared distances, ascending, with ties, zeros, and missing ones at the end."""
    n, K = int(rng.integers(1, 8)), int(rng.integers(1, 10))
    d = np.sort(rng.gamma(0.5, 3.0, size=(n, K)), axis=1)
    if case % 3 == 0:
        d = np.round(d)
    if case % 4 == 0:
        d[rng.integers(n), : rng.integers(0, K + 1)] = 0.0
    for j in range(n) if case % 5 == 0 else ():
        d[j, K - rng.integers(0, K + 1) :] = np.inf
    return d


def some_similarity(rng, case, n):
    """Not symmetric; sparse, dense, or all the same, so that W is tied."""
    if case % 4 == 0:
        return np.ones((n, n))
    S = rng.random((n, n)) * (rng.random((n, n)) < (0.3 if case % 2 else 1.0))
    S[0, 1] = S[1, 2] = 0.5  # not nothing at all
    return S


def some_features(rng, case):
    """Points in the plane or in more dimensions: of full rank, or all on one line of the plane."""
    n, d = int(rng.integers(3, 15)), 2
    if case % 5 == 2:
        n, d = int(rng.integers(12, 30)), int(rng.integers(3, 9))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2, size=d) + rng.normal(size=d)
    if case % 10 == 9:
        X[:, 1] = 2 * X[:, 0]
    return X


def arguments(name, rng, case):
    gammas = [0.0, 1e-3, 0.3, 2.0, 50.0]
    if name == "neighbours":
        Y, y = some_points(rng, case, d=1 + case % 2)
        return Y, y, int(rng.integers(1, len(y) + 3))
    if name in ("gamma_step", "gamma_bounds"):
        d = some_distances(rng, case)
        return (np.c_[d, d[:, -1] + rng.integers(0, 2, len(d))] if "bounds" in name else d,)
    if name in ("s_step", "exact_s_step"):
        d = some_distances(rng, case)
        return d, rng.choice(gammas, size=len(d))
    if name == "objective":
        d = some_distances(rng, case)
        return d, rng.random(d.shape) * np.isfinite(d), rng.choice(gammas, size=len(d))
    if name == "project_to_simplex":
        v = rng.normal(size=(3, int(rng.integers(1, 9)))) * 10.0 ** rng.integers(-2, 3)
        v = np.round(v) if case % 3 == 0 else v
        if case % 4 == 0:
            v[0, 1:] = -np.inf
        return (v,)
    if name == "similarity_matrix":
        Y, y = some_points(rng, case)
        indices, distances = steps.neighbours(Y, y, 3)
        return indices, steps.s_step(distances, steps.gamma_step(distances))
    if name == "uniform_similarity":
        return (rng.integers(0, 4, size=int(rng.integers(1, 12))),)
    X = some_features(rng, case)
    if name == "whitening":
        X = X - X.mean(axis=0)
        return (X.T @ X,)
    S = some_similarity(rng, case, len(X))
    if name == "laplacian_scatter":
        return X, S
    one_axis = case % 4 == 0 or case % 10 == 9  # all tied, or rank 1
    return X, S, 1 if one_axis else 1 + case % 2


def in_python(name, given):
    found = getattr(steps, name)(*given)
    if name == "similarity_matrix":
        return found.toarray()
    if name == "uniform_similarity":
        return found @ np.eye(len(given[0]))
    return found


FUNCTIONS = [
    "neighbours",
    "gamma_step",
    "gamma_bounds",
    "s_step",
    "exact_s_step",
    "project_to_simplex",
    "objective",
    "similarity_matrix",
    "uniform_similarity",
    "laplacian_scatter",
    "whitening",
    "w_step",
]


def deviation(theirs, ours):
    """The largest difference, relative where numbers are above 1; inf where one is missing."""
    if isinstance(theirs, dict):
        pairs = zip(theirs.values(), ours, strict=True)
        return max(deviation(mine, other) for mine, other in pairs)
    theirs, ours = np.asarray(theirs, dtype=float), np.asarray(ours, dtype=float)
    if theirs.shape != ours.shape or np.any(np.isinf(theirs) != np.isinf(ours)):
        return np.inf
    there = np.isfinite(ours)
    scale = max(1.0, np.abs(ours[there]).max(initial=0.0))
    return np.abs(theirs[there] - ours[there]).max(initial=0.0) / scale


def worst(name):
    rng = np.random.default_rng(FUNCTIONS.index(name))
    cases = [(name, arguments(name, rng, case)) for case in range(CASES)]
    found = in_node(cases)
    pairs = zip(found, cases, strict=True)
    return max(deviation(theirs, in_python(*case)) for theirs, case in pairs)


node = pytest.mark.skipif(NODE is None, reason="node is not installed")


@node
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_step_in_the_browser_is_the_step_of_the_module(name):
    assert worst(name) < CLOSE


@node
def test_a_word_in_the_browser_is_the_word_of_the_study():
    rng = np.random.default_rng(9)
    cases, expected = [], []
    for df in rng.integers(2, 60, size=CASES).tolist():
        points, interval, margin = rng.normal(0, 1.2), rng.gamma(2, 0.4), rng.uniform(0.2, 3)
        wide, narrow = t.ppf([0.975, 0.95], df)
        estimate = Estimate(points, interval / wide, df)
        found = judge({0: Difference(0, 0, 0, estimate, None)}, margin)
        cases.append([points, interval, margin, narrow / wide])
        expected.append(found[0].these.word)
    assert run(OF_WORDS, "live-words.js", cases) == expected
    assert set(expected) == set(WORDS)


# ---------------------------------------------------------------------------------- in the chapters


def live_cells():
    """Every cell that asks for a live figure, with the name of its notebook."""
    for path in sorted(BOOK.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code" and re.search(r"^live\(", cell.source, re.M):
                yield pytest.param(path.name, cell, id=f"{path.stem}-{cell.id}")


def asked_for(text):
    """Name and data of the live figures in a piece of HTML."""
    found = BeautifulSoup(text, "html.parser").select("div.live")
    return [(node["data-figure"], json.loads(node["data-given"])) for node in found]


@pytest.mark.parametrize(("notebook", "cell"), list(live_cells()))
def test_a_live_figure_has_its_script_its_data_and_a_still_picture(notebook, cell):
    shown = [output.get("data", {}) for output in cell.outputs]
    [(figure, given)] = asked_for("".join(data.get("text/html", "") for data in shown))
    assert (STATIC / f"live-{figure}.js").exists()
    assert given or figure == "multiverse"  # its data come from the records, with the build
    assert any("image/png" in data or "image/svg+xml" in data for data in shown)


def test_the_colours_are_those_of_the_book():
    style = (STATIC / "live.css").read_text()
    light = style[: style.index('html[data-theme="dark"]')]
    found = dict(re.findall(r"--(\w+): (#\w{6});", light))
    known = COLOURS | {"slnp": METHOD_COLOURS["SLNP"]}
    named = {name: colour for name, colour in found.items() if name not in ("ground", "soft")}
    assert len(named) >= 6
    assert named == {name: known[name] for name in named}
    for number, name in enumerate(("blue", "red")):
        assert CLASS_COLOURS[number] == COLOURS[name]
        assert f".kind-{number} {{ fill: var(--{name}); }}" in style
