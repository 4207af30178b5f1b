"""The forensics: protocols against twins, and a search that finds a culprit it was not told."""

from itertools import product

import numpy as np
import pytest
import twins
from sklearn.datasets import load_digits
from test_choices import prepared
from test_independent import drawn

from slnp_study import paper, records
from slnp_study.protocol import nearest_neighbour_is_right
from slnp_study.studies import forensics

N_I, D_PCA, D, K, SEED = 6, 14, 4, 3, 3


def test_a_protocol_counts_as_many_right_as_the_twin():
    X, y = load_digits(return_X_y=True)
    kept = np.concatenate([np.flatnonzero(y == label)[:24] for label in range(5)])
    X, y = X[kept], y[kept]
    found = forensics.run(X, y, N_i=N_I, D_PCA=D_PCA, d=D, K=K, seed=SEED)
    train, test = drawn(y, N_I, SEED)
    for images, pca_on in product(*list(forensics.COMMON.values())[:2]):
        made = {"images": images, "PCA on": pca_on}
        Z = prepared(X, train, made)
        A, labels = Z[train] - Z[train].mean(axis=0), y[train]
        ways = {
            ("LDA", 0): twins.lda(A, labels, 4),
            ("MFA", 1): twins.mfa(A, labels, D, pairs="sample"),
            ("LSDA", 1): twins.lsda(A, labels, D, beta=0.5, self_loops=False),
            ("LFDA", 5): twins.lfda(A, labels, D, kernel="heat", c=0.1)[0],
            ("SLNP", 1): twins.slnp(A, labels, D, K, 10)[0],
            ("SLNP", 4): twins.slnp(A, labels, D, K, 2, scale=np.linalg.norm)[0],
        }
        for (method, own), W in ways.items():
            V, _ = np.linalg.qr(W)
            place = forensics.WAYS.index((images, pca_on, "orthonormal", "cosine"))
            right = nearest_neighbour_is_right(A @ V, labels, Z[test] @ V, y[test], "cosine")
            centred = Z[test] - Z[train].mean(axis=0)
            plain = nearest_neighbour_is_right(A @ V, labels, centred @ V, y[test])
            assert found[method][place - 1][own] == plain.sum(), (method, own, made)
            if pca_on == "training part":
                assert found[method][place][own] == right.sum(), (method, own, made)


def test_the_search_finds_a_planted_protocol_and_its_distance():
    """Tables made by a known protocol, two points off in every cell of one method."""
    rng = np.random.default_rng(0)
    ours = {m: rng.uniform(50, 90, (17, 24, len(own))) for m, own in forensics.OWN.items()}
    own = {"LDA": 1, "LFDA": 3, "SLNP": 5}
    table = {m: ours[m][:, 7, i] + 2 * (m == "LDA") for m, i in own.items()}
    distances, chosen = forensics.nearest(ours, table)
    assert distances.argmin() == 7
    assert distances[7] == pytest.approx(2 / np.sqrt(3))
    assert dict(zip(table, chosen[:, 7], strict=True)) == own


@pytest.mark.parametrize("name", paper.DIMENSIONS)
def test_the_records_hold_what_the_rivals_record_holds(name):
    """The same splits, images as they are, PCA on the training part, Euclidean distance."""
    assert records.check(f"{name}-forensics", records.load(f"{name}-forensics")) == []
    found, rivals = records.read(f"{name}-forensics"), records.read(f"{name}-rivals")
    for basis, (i, cell) in product(forensics.COMMON["basis"], enumerate(rivals.cells)):
        way = forensics.WAYS.index(("raw", "training part", basis, "Euclidean"))
        for (method, own), other in {
            ("SLNP", 0): "SLNP, 2 rounds",
            ("SLNP", 1): "SLNP",
            ("LFDA", 4): "LFDA, c = 0.25",
            ("LDA", 0): "LDA",
        }.items():
            theirs = rivals.rates(cell, other, basis)[:3]
            assert np.abs(found[method][i, :, way, own] - theirs).max() <= 0.2


def test_a_unit_with_too_many_right_is_found():
    record = records.load("mnist-forensics")
    first = next(iter(record["units"]))
    record["units"][first]["tested"] = 9
    assert records.check("mnist-forensics", record)[0].startswith(first)
