"""Studies in which methods meet: against scikit-learn, the registered plan and brute force."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import twins
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from slnp_edu.base import in_basis
from slnp_study import paper, records
from slnp_study.contest import BASES, Cell, compete, leads
from slnp_study.packing import unpack
from slnp_study.protocol import Split
from slnp_study.statistics import over_splits
from slnp_study.studies import STUDIES, dimensions, learning, rivals
from slnp_study.study import PLANS

X, Y = load_digits(return_X_y=True)
ORDER = np.argsort(Y, kind="stable")
X, Y = X[ORDER], Y[ORDER]
CELL = Cell(N_i=8, D_PCA=20, d=9, K=3)


@pytest.fixture(scope="module")
def unit():
    """One split of the digits by all methods, as if a digit were a person."""
    contest = rivals.STUDY.units.__self__
    return contest, compete(X, Y, contest=contest, dataset="yale_b", cell=CELL, seed=100)


def test_rates_are_those_of_scikit_learns_neighbour(unit):
    contest, found = unit
    split = Split(X, Y, N_i=8, D_PCA=20, seed=100)
    projections = dict(contest.learn(split, CELL, 100))
    assert tuple(projections) == contest.methods
    for name in ("SLNP", "anchored, 0.3", "LFDA, c = 0.25", "NCA"):
        for basis, count in zip(BASES, found["right"][name], strict=True):
            V = in_basis(projections[name], basis, split.A)
            nearest = KNeighborsClassifier(1, algorithm="brute").fit(split.A @ V, split.y_train)
            assert abs(np.sum(nearest.predict(split.B @ V) == split.y_test) - count) <= 1


def test_counts_of_a_class_are_kept(unit):
    contest, found = unit
    split = Split(X, Y, N_i=8, D_PCA=20, seed=100)
    bits = unpack(found["outcomes"], len(contest.methods) * len(BASES), found["tested"])
    W = dict(contest.learn(split, CELL, 100))["LDA"]
    kept = bits[contest.methods.index("LDA") * len(BASES)]
    for label in range(10):
        there = split.y_test == label
        assert kept[there].sum() == split.right(W, BASES[0])[there].sum()


def test_what_rounding_decides_is_not_compared(unit):
    contest, found = unit
    left = contest.comparable("yale_b", found)
    assert set(contest.methods) - set(left["right"]) == {"NCA", "SLNP, P chosen"}
    bits = unpack(left["outcomes"], len(left["right"]) * len(BASES), found["tested"])
    assert bits.sum(axis=1).tolist() == [n for counts in left["right"].values() for n in counts]


def test_the_rounds_are_chosen_without_the_test_part():
    split = Split(X, Y, N_i=8, D_PCA=20, seed=100)
    chosen = rivals.choose_rounds(split, CELL, 100)
    split.B, split.y_test = split.B[::-1] * 7, split.y_test[::3]
    assert rivals.choose_rounds(split, CELL, 100) == chosen


@pytest.mark.parametrize("name", ["coil100-rivals", "mnist-rivals"])
def test_leads_are_differences_of_the_recorded_counts(name):
    results = records.read(name)
    found = leads([results], "SLNP", ["LDA", "LADA"], ["orthonormal"])
    sizes = [*paper.DIMENSIONS[results.dataset], "mean"]
    expected = {(results.dataset, N, m, "orthonormal") for N in sizes for m in ("LDA", "LADA")}
    assert set(found) == expected
    at = BASES.index("orthonormal")
    for (_, label, other, _), lead in found.items():
        units = [u for key, u in results.units.items() if label in ("mean", int(key.split("/")[1]))]
        share = [(u["right"]["SLNP"][at] - u["right"][other][at]) / u["tested"] for u in units]
        wrong = [1 - u["right"][other][at] / u["tested"] for u in units]
        assert np.isclose(lead.these.points, 100 * np.mean(share))
        assert np.isclose(lead.errors, 100 * np.mean(wrong))
        if label != "mean":
            alone = over_splits(100 * np.array(share), np.zeros(len(share)))
            assert np.allclose(lead.these, alone)
        assert (lead.new is None) == (other == "LADA" and results.dataset == "mnist")
    small = leads([results], "SLNP", ["LDA"], ["unit"], lambda cell: ["small"] * (cell.N_i < 13))
    assert list(small) == [(results.dataset, "small", "LDA", "unit")]


SHOW = f"""'{sys.executable}' -c 'import lzma, sys; print(lzma.open(sys.argv[1]).read())'"""
REGISTERED = [name for name in records.names() if STUDIES[name.partition("-")[2]].plan]


@pytest.mark.parametrize("name", REGISTERED)
def test_a_record_names_the_plan_that_was_committed_before_it(name):
    record = records.load(name)
    plan = PLANS / record["plan"]
    assert record["plan_sha256"] == hashlib.sha256(plan.read_bytes()).hexdigest()
    root, path = Path(__file__).parents[2], records.path_of(name)
    paths = path, path.with_suffix("")  # once they weren't compressed
    log = ["git", "-c", f"diff.record.textconv={SHOW}", "log", "--format=%H"]
    planned, ran = (
        subprocess.run([*log, *of], cwd=root, capture_output=True, text=True).stdout.split()
        for of in (["--", plan], ["-S", record["plan_sha256"], "--", *paths])  # since it names it
    )
    if planned and ran:  # both are committed, and the history is here
        order = ["git", "merge-base", "--is-ancestor", planned[0], ran[-1]]  # its last, its first
        assert planned[0] != ran[-1]
        assert subprocess.run(order, cwd=root).returncode == 0


def test_pieces_of_a_class_are_tied_by_their_nearest_pairs():
    """Against Kruskal's rule: of all pairs between pieces, the nearest that still joins two."""
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(40, 2)) + 20 * rng.integers(0, 3, (40, 1)), np.repeat([0, 1], 20)
    indices, distances = learning.find_linked(Z, y, 2)
    own = np.arange(40)[:, None]
    np.testing.assert_array_equal(np.isinf(distances), indices == own)
    for label in (0, 1):
        members = np.flatnonzero(y == label)
        D = cdist(Z[members], Z[members], "sqeuclidean")
        near = np.argsort(D, axis=1, kind="stable")[:, 1:3]
        linked = np.zeros((20, 20), bool)
        np.put_along_axis(linked, near, True, axis=1)
        for j, k in zip(*np.unravel_index(np.argsort(D, axis=None), D.shape), strict=True):
            _, piece = connected_components(linked, directed=False)
            if piece[j] != piece[k]:
                linked[j, k] = linked[k, j] = True
        for row, j in zip(linked, members, strict=True):
            found = set(indices[j][np.isfinite(distances[j])].tolist())
            assert found == set(members[row].tolist())


def test_a_unit_of_the_dimensions_in_plain_loops():
    """Each method from its twin, 1-NN by sorting, in the folds as in the test part."""
    contest = dimensions.STUDY.units.__self__
    cell = Cell(N_i=6, D_PCA=12, d=5, K=3)
    few = np.concatenate([np.flatnonzero(label == Y)[:20] for label in range(6)])
    found = compete(X[few], Y[few], contest=contest, dataset="yale_b", cell=cell, seed=100)
    split = Split(X[few], Y[few], N_i=6, D_PCA=12, seed=100)

    def by_twin(name, A, y):
        def choose(Z, j, others):
            there = [k for _, k in twins.nearest(A, j, others, 3)]
            return sorted((float(np.sum((Z[j] - Z[k]) ** 2)), k) for k in there)

        options = {
            "SLNP": {"rounds": 10},
            "SLNP, 1 round": {"rounds": 1},
            "anchored, 0.3": {"rounds": 10, "anchor": 0.3},
            "fixed graph": {"rounds": 10, "choose": choose},
        }
        if name in options:
            return twins.slnp(A, y, 5, 3, **options[name])[0]
        return twins.lda(A, y, 5) if name == "LDA" else twins.lfda(A, y, 5)[0]

    def count(name, part):
        V, _ = np.linalg.qr(by_twin(name, part.A, part.y_train))
        D = cdist(part.B @ V, part.A @ V)
        return np.sum(part.y_train[D.argmin(axis=1)] == part.y_test)

    for name in contest.methods:
        place = BASES.index("orthonormal")
        assert found["right"][name][place] == count(name, split), name
        inner = sum(count(name, part) for part in split.folds(3, 100))
        assert found["inner"][name][place] == inner, name
