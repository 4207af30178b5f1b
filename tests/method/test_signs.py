"""No answer hangs on the signs that an eigenvalue routine or a QR leaves open.

LAPACK may return an eigenvector or its negative, and another processor's kernel does. Here the
routines themselves flip columns at random: what leaves a function must not notice.
"""

import numpy as np
import pytest

import slnp_edu
from slnp_edu import base, steps
from slnp_study.studies import replication

rng = np.random.default_rng(0)
y = np.repeat([0, 1, 2], 12)
X = rng.normal(size=(3, 7))[y] + rng.normal(size=(36, 7)) * rng.uniform(0.5, 2, size=7)
X = X - X.mean(axis=0)
S = rng.random((36, 36)) * (y[:, None] == y)
A, St = steps.laplacian_scatter(X, S), X.T @ X


def tie(P):
    """The uniform start: all directions beyond the C - 1 = 2 of LDA are tied."""
    within = steps.laplacian_scatter(X, steps.uniform_similarity(y))
    values, vectors = steps.eigh(P.T @ within @ P)
    return steps.break_ties(values, vectors, P, 4)[:, 2:]


ANSWERS = {
    "whitening": lambda: steps.whitening(St),
    "smallest_eigenvectors": lambda: steps.smallest_eigenvectors(A, steps.whitening(St), 3)[0],
    "break_ties": lambda: tie(steps.whitening(St)),
    "w_step": lambda: steps.w_step(X, S, 3)[0],
    "in_basis": lambda: base.in_basis(steps.w_step(X, S, 3)[0], "orthonormal"),
    "with_drawn_tie": lambda: replication.with_drawn_tie(X, y, 5, 4, seed=0)[0],
    "with_drawn_tie, round 1": lambda: replication.with_drawn_tie(X, y, 5, 4, 0, max_iter=1)[0],
} | {
    f"{name}, {basis}": lambda name=name, basis=basis: (
        getattr(slnp_edu, name)(3, basis=basis).fit(X, y).components_
    )
    for name in slnp_edu.__all__
    for basis in base.BASES
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answer_is_the_same_whatever_signs_the_library_returns(name, monkeypatch):
    expected = ANSWERS[name]()
    flips = np.random.default_rng(1)
    eigh, qr = np.linalg.eigh, np.linalg.qr

    def flipping_eigh(*args, **options):
        values, vectors = eigh(*args, **options)
        return values, vectors * flips.choice([-1.0, 1.0], size=vectors.shape[1])

    def flipping_qr(M, **options):
        Q, R = qr(M, **options)
        signs = flips.choice([-1.0, 1.0], size=Q.shape[1])
        return Q * signs, signs[:, None] * R

    monkeypatch.setattr(steps, "eigh", flipping_eigh)
    monkeypatch.setattr(np.linalg, "qr", flipping_qr)
    for _ in range(5):
        np.testing.assert_allclose(ANSWERS[name](), expected, rtol=1e-7, atol=1e-9)


def test_of_entries_equally_large_the_first_decides_the_sign():
    least = 1e-15  # what rounding leaves between two entries that are equal
    for W in ([[1.0], [-1.0 - least]], [[-1.0 - least], [1.0]], [[-1.0], [1.0 + least]]):
        assert steps.fix_signs(np.array(W))[0, 0] > 0
