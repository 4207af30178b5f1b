"""Algorithm 1 as a loop over the steps, and SLNP, the scikit-learn transformer that runs it."""

import warnings
from collections.abc import Callable, Iterator
from itertools import islice
from time import perf_counter
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
    """What one round of Algorithm 1 leaves behind."""

    W: Array  #: (D, d), whitened
    S: csr_array  #: (N, N), not symmetrised
    gamma: Array  #: (N,)
    J: float  #: the objective (19)
    eigenvalues: Array  #: (d,), of the W-step, ascending


def rounds(
    X: Array,
    y: NDArray[Any],
    d: int,
    K: int,
    *,
    rule: str = "paper",
    start: Any = None,
    choose: Callable[..., tuple[NDArray[np.intp], Array]] = neighbours,
    P: Array | None = None,
) -> Iterator[Round]:
    """Algorithm 1, round by round and without end: whoever asks for rounds says when to stop.

    The W-step stands once in a round, not once per class: W depends on all classes.

    Parameters
    ----------
    X : array of shape (N, D)
    y : array of shape (N,)
    d, K : int
        Directions, at most the rank of the data, and neighbours per sample.
    rule : {"paper", "can", "fixed"}
        How gamma is found; see `SLNP`.
    start : array, sparse array or LinearOperator of shape (N, N), optional
        The similarities of the first W-step; by default ``1/N_i`` within each class.
    choose : callable, default `neighbours`
        ``choose(Y, y, K, near)`` returns the neighbours of each sample and their squared distances;
        near are those of the round before, or None.
    P : array of shape (D, rank), optional
        Whitening of St, if already known.

    Yields
    ------
    Round

    Examples
    --------
    >>> from itertools import islice
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> [f"{r.J:.5f}" for r in islice(rounds(X, y, 1, 5), 3)]
    ['0.00523', '0.00504', '0.00487']
    """
    X = X - X.mean(axis=0)
    P = whitening(X.T @ X) if P is None else P
    S = uniform_similarity(y) if start is None else start
    largest = np.unique(y, return_counts=True)[1].max()
    searched = {"paper": K, "can": K + 1, "fixed": largest - 1}[rule]
    indices = gamma = None
    while True:
        W, eigenvalues = w_step(X, S, d, P)  # (53)-(57)
        indices, distances = choose(X @ W, y, searched, indices)  # (28)
        gamma, s = gamma_and_s(distances, K, rule, gamma)  # (52), (38)
        S = similarity_matrix(indices, s)
        J = objective(distances, s, gamma)  # (19)
        yield Round(W, S, gamma, J, eigenvalues)


def gamma_and_s(distances: Array, K: int, rule: str, gamma: Array | None) -> tuple[Array, Array]:
    """Gamma-step and S-step by one of the rules of `SLNP`; gamma is that of the round before."""
    if rule == "paper":
        gamma = gamma_step(distances)
        return gamma, s_step(distances, gamma)
    if rule == "can":  # the (K+1)-th neighbour bounds gamma and gets no similarity
        _, gamma = gamma_bounds(distances)
        return gamma, np.pad(s_step(distances[:, :K], gamma), ((0, 0), (0, 1)))
    if gamma is None:  # "fixed": found in the first round, over the K nearest
        gamma = gamma_step(distances[:, :K])
    return gamma, exact_s_step(distances, gamma)


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
    basis : {"own", "whitened", "orthonormal"}
        "whitened" is the paper's constraint (22), ``W'StW = I``; it is SLNP's own. "orthonormal"
        gives the same subspace a basis with ``W'W = I`` once the rounds are done.
    keep_history : bool, default False
        Keep every round.
    verbose : bool, default False
        Print a line after each round: J, its change as a fraction of itself, the time it took.

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

    own_basis = "whitened"

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
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.gamma = gamma
        self.basis = basis
        self.keep_history = keep_history
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, 2)
        check_integer("max_iter", self.max_iter, 1)
        check_number("tol", self.tol, 0)
        check_choice("gamma", self.gamma, ("paper", "can", "fixed"))

    def _learn(self, X: Array, y: Any) -> tuple[Array, dict[str, Any]]:
        """Run the rounds of Algorithm 1 until J stands still or there have been enough."""
        self._warn_of_small_classes(y)
        P = whitening(X.T @ X)
        d = self._n_components(P.shape[1], y)
        J: list[float] = []
        history: list[Round] | None = [] if self.keep_history else None
        begun = perf_counter()
        for last in islice(rounds(X, y, d, self.n_neighbors, rule=self.gamma, P=P), self.max_iter):
            J.append(last.J)
            if history is not None:
                history.append(last)
            if self.verbose:
                change = f", change {J[-1] / J[-2] - 1:+.1e}" if len(J) > 1 and J[-2] else ""
                seconds, begun = perf_counter() - begun, perf_counter()
                print(f"round {len(J)}: J = {J[-1]:.6g}{change}, {seconds:.2f} s", flush=True)
            if len(J) > 1 and abs(J[-1] - J[-2]) <= self.tol * abs(J[-1]):
                break
        return last.W, {
            "similarity_": last.S,
            "gamma_": last.gamma,
            "objective_": np.array(J),
            "eigenvalues_": last.eigenvalues,
            "n_iter_": len(J),
            "history_": history,
        }

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
