"""SLNP as a scikit-learn transformer: the loop over the steps, and nothing else."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from slnp_edu.base import LinearProjection, check_choice, check_integer, check_number
from slnp_edu.steps import (
    Array,
    exact_s_step,
    gamma_bounds,
    gamma_step,
    neighbours,
    objective,
    s_step,
    similarity_matrix,
    uniform_similarity,
    w_step,
    whitening,
)


class Round(NamedTuple):
    """What one round of Algorithm 1 left: W (D, d), S (sparse, N x N) and gamma (N,)."""

    W: Array
    S: csr_array
    gamma: Array


class SLNP(LinearProjection):
    """Simultaneously Learning Neighborship and Projection matrix (Pang, Zhou, Nie).

    Alternates three steps: W from the similarities (53)-(57), gamma from the projected distances
    (52), the similarities from both (38). It starts from ``s = 1/N_i`` within each class, so the
    first round's W is that of LDA.

    Parameters
    ----------
    n_components : int, optional
        Directions (d); by default C - 1 or the rank of the data, whichever is less.
    n_neighbors : int, default 5
        K, at least 2. In a class of N_i <= K samples it is cut to N_i - 1, with a warning.
    max_iter : int, default 10
        The most rounds to run, the paper's P.
    tol : float, default 1e-6
        Stop when J changes by no more than this fraction of itself. 0 runs on until J stands
        still to the last digit.
    gamma : {"paper", "can", "fixed"}
        "paper": (52), anew in each round. "can": the upper bound of (45), as in Nie's clustering
        with adaptive neighbours. "fixed": (52) in the first round, then kept, with the S-step
        solved exactly over the whole class; J then never rises. It needs memory for N times the
        largest N_i.
    basis : {"whitened", "orthonormal"}
        "whitened" is the paper's constraint (22), ``W'StW = I``. "orthonormal" gives the same
        subspace a basis with ``W'W = I`` once the rounds are done.
    keep_history : bool, default False
        Keep every round's W, S and gamma.

    Attributes
    ----------
    components_ : array of shape (d, D)
        The rows are the basis vectors: W transposed.
    mean_ : array of shape (D,)
    similarity_ : sparse array of shape (N, N)
        S, in the order of the training rows, not symmetrised. A row sums to 1; the row of a
        sample that is alone in its class is empty.
    gamma_ : array of shape (N,)
    objective_ : array of shape (rounds,)
        J (19) after each round.
    eigenvalues_ : array of shape (d,)
        Of the last W-step, ascending.
    n_iter_ : int
    history_ : list of Round, or None
        Every round, with ``keep_history=True``. W is whitened there, whatever the basis.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> slnp = SLNP(n_components=1, n_neighbors=5).fit(X, y)
    >>> slnp.transform(X).shape
    (150, 1)
    """

    def __init__(
        self,
        n_components: int | None = None,
        n_neighbors: int = 5,
        *,
        max_iter: int = 10,
        tol: float = 1e-6,
        gamma: str = "paper",
        basis: str = "whitened",
        keep_history: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.gamma = gamma
        self.basis = basis
        self.keep_history = keep_history

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, 2)
        check_integer("max_iter", self.max_iter, 1)
        check_number("tol", self.tol, 0)
        check_choice("gamma", self.gamma, ("paper", "can", "fixed"))

    def _learn(self, X: Array, y: Any) -> tuple[Array, dict[str, Any]]:
        """Algorithm 1, with the W-step once per round: W depends on all classes."""
        self._warn_of_small_classes(y)
        P = whitening(X.T @ X)
        d = self._n_components(P.shape[1], y)
        S, gamma = uniform_similarity(y), None
        J: list[float] = []
        history: list[Round] | None = [] if self.keep_history else None
        for _ in range(self.max_iter):
            W, eigenvalues = w_step(X, S, d, P)
            indices, distances, gamma, s = self._similarities(X @ W, y, gamma)
            S = similarity_matrix(indices, s)
            J.append(objective(distances, s, gamma))
            if history is not None:
                history.append(Round(W, S, gamma))
            if len(J) > 1 and abs(J[-1] - J[-2]) <= self.tol * abs(J[-1]):
                break
        return W, {
            "similarity_": S,
            "gamma_": gamma,
            "objective_": np.array(J),
            "eigenvalues_": eigenvalues,
            "n_iter_": len(J),
            "history_": history,
        }

    def _similarities(
        self, Y: Array, y: Any, gamma: Array | None
    ) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """Gamma-step and S-step by the rule asked for: neighbours, their distances, gamma, s."""
        K = self.n_neighbors
        if self.gamma == "can":
            indices, distances = neighbours(Y, y, K + 1)
            _, gamma = gamma_bounds(distances)
            indices, distances = indices[:, :K], distances[:, :K]
            return indices, distances, gamma, s_step(distances, gamma)
        if self.gamma == "fixed":
            indices, distances = neighbours(Y, y, int(np.bincount(y).max()) - 1)
            if gamma is None:
                gamma = gamma_step(distances[:, :K])
            return indices, distances, gamma, exact_s_step(distances, gamma)
        indices, distances = neighbours(Y, y, K)
        gamma = gamma_step(distances)
        return indices, distances, gamma, s_step(distances, gamma)

    def _warn_of_small_classes(self, y: Any) -> None:
        sizes = np.bincount(y)
        smallest = sizes[sizes > 1].min()
        if self.n_neighbors > smallest - 1:
            warnings.warn(
                f"n_neighbors={self.n_neighbors} is more than the smallest class can offer "
                f"({smallest} samples); K is cut to N_i - 1 in such classes.",
                UserWarning,
                stacklevel=4,
            )
