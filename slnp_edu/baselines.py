"""The methods SLNP is compared with: LPP, LFDA, MFA and LSDA.

All learn W from a graph that is fixed beforehand in the original space. They say only which two
matrices they pit against each other. `slnp_edu.base.GraphEmbedding` does the rest.
PCA and LDA are scikit-learn's. `slnp_edu.base.in_basis` gives their directions the same bases.

In every method ``basis="own"``, the default, keeps the method's own constraint as its authors have
it: ``W'BW = I``, with a B that differs from method to method. The other three give the same
subspace a basis that any method can have: `slnp_edu.base.in_basis` says what they are and which
suits which use. Compare two methods only in one of those three.

The data are centred first, as the PCA step of the paper does anyway. Without PCA the graphs are
built from all features, noise included. They don't change afterwards, so these methods don't
collapse as SLNP can. But with as many features as samples, LFDA, MFA and LSDA meet a matrix B that
lacks full rank, and drop the directions that B can't see, good ones among them. So PCA comes first.

The parameters of a method are the fields of its class, from which ``dataclass`` writes the
constructor. Comparison and printing stay scikit-learn's.
"""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.spatial.distance import cdist, pdist

from slnp_edu.base import GraphEmbedding, check_choice, check_integer, check_number
from slnp_edu.search import Search
from slnp_edu.steps import Array, laplacian_scatter, similarity_matrix


@dataclass(eq=False, repr=False)
class LPP(GraphEmbedding):
    """Locality Preserving Projection (He and Niyogi), (13)-(14). Needs no labels.

    Makes ``w'X'LXw`` small relative to ``w'X'DXw``: neighbours in the original space stay close.
    Its supervised variant, ``within_classes=True``, links samples of the same class only.

    Conventions. Two samples are linked if either is among the other's K nearest. With
    ``n_neighbors=None`` all pairs are, as printed in (13). No sample is linked with itself. The
    paper doesn't say how t is chosen.

    Parameters
    ----------
    n_components : int, optional
        Directions (d). By default the rank of the data. With ``within_classes``, at most C - 1.
    n_neighbors : int or None, default 5
        K. With ``within_classes``, N_i - 1 in smaller classes.
    kernel : {"heat", "gaussian"}, default "heat"
        "heat" is ``exp(-d^2 / t)`` (He and Niyogi, and (13)). "gaussian" is ``exp(-d^2 / 2t^2)``
        (Cai's code).
    t : float, optional
        Width of the kernel. By default the mean of d^2 over the linked pairs ("heat"), or the
        root of that mean ("gaussian").
    within_classes : bool, default False
        Whether only samples of the same class are neighbours. ``fit`` then needs y.
    basis : {"own", "whitened", "orthonormal", "unit"}, default "own"

    Attributes
    ----------
    components_ : array of shape (d, D)
    mean_ : array of shape (D,)
    eigenvalues_ : array of shape (d,), ascending
    """

    n_components: int | None = None
    n_neighbors: int | None = 5
    _: KW_ONLY
    kernel: str = "heat"
    t: float | None = None
    within_classes: bool = False
    basis: str = "own"

    def _uses_labels(self) -> bool:
        return self.within_classes

    def _check_parameters(self) -> None:
        if self.n_neighbors is not None:
            check_integer("n_neighbors", self.n_neighbors, 1)
        check_choice("kernel", self.kernel, ("heat", "gaussian"))
        if self.t is not None:
            check_number("t", self.t, np.finfo(float).tiny)

    def _matrices(self, X: Array, y: Any) -> tuple[Array, Array]:
        N = len(X)
        K = N - 1 if self.n_neighbors is None else self.n_neighbors
        j, k = nearest_neighbour_graph(X, K, y).tocoo().coords
        squared = np.sum((X[j] - X[k]) ** 2, axis=1)
        if self.kernel == "gaussian":
            s = _heat(squared, _width(squared, 2.0) if self.t is None else 2 * self.t**2)
        else:
            s = _heat(squared, _width(squared) if self.t is None else self.t)
        S = csr_array((s, (j, k)), shape=(N, N))
        return laplacian_scatter(X, S), X.T @ (S.sum(axis=1)[:, None] * X)


@dataclass(eq=False, repr=False)
class LFDA(GraphEmbedding):
    """Local Fisher Discriminant Analysis (Sugiyama), (15)-(16).

    Makes the local between-class scatter large relative to the local within-class scatter.

    Conventions. What the similarity in (15)-(16) is depends on whom you ask. See ``kernel``. Only
    pairs within a class have a similarity, and the paper doesn't say how wide its kernel is.

    Parameters
    ----------
    n_components : int, optional
        Directions (d). By default C - 1 or the rank of the within-class scatter, whichever is less.
    n_neighbors : int, default 7
        K of the local scaling. N_i - 1 in smaller classes.
    kernel : {"local", "heat"}, default "local"
        "local" is Sugiyama's local scaling, ``exp(-d^2 / (sigma_j sigma_k))``, where sigma is the
        distance to the K-th nearest sample *of the same class*. "heat" is what the paper prints,
        ``exp(-d^2 / t)`` with one width t for all (13), (15), and makes no use of K.
    t : float, optional
        The width of "heat". By default c times a mean of d^2, below.
    c : float, default 1.0
        ``t = c * mean(d^2)``: the mean over all pairs of different samples in a class, with
        all classes pooled, so a class counts by its number of pairs. A small c is a narrow
        kernel: only the nearest are similar.
    metric : {"weighted", "plain"}, default "weighted"
        What ``basis="own"`` gives: the eigenvectors times the root of their eigenvalues, so that
        directions that separate better count more (Sugiyama's default), or the eigenvectors as
        they are, with ``W'S_lw W = I`` for the local within-class scatter S_lw. His third metric,
        "orthonormalized", is ``basis="orthonormal"``.
    basis : {"own", "whitened", "orthonormal", "unit"}, default "own"

    Attributes
    ----------
    components_ : array of shape (d, D)
    mean_ : array of shape (D,)
    eigenvalues_ : array of shape (d,), descending
    """

    maximises = True

    n_components: int | None = None
    n_neighbors: int = 7
    _: KW_ONLY
    kernel: str = "local"
    t: float | None = None
    c: float = 1.0
    metric: str = "weighted"
    basis: str = "own"

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_choice("kernel", self.kernel, ("local", "heat"))
        check_number("c", self.c, np.finfo(float).tiny)
        if self.t is not None:
            check_number("t", self.t, np.finfo(float).tiny)
        check_choice("metric", self.metric, ("weighted", "plain"))

    def _learn(self, X: Array, y: Any) -> Array:
        W = super()._learn(X, y)
        if self.basis == "own" and self.metric == "weighted":
            W = W * np.sqrt(np.maximum(self.eigenvalues_, 0.0))  # below 0 only by rounding
        return W

    def _matrices(self, X: Array, y: Any) -> tuple[Array, Array]:
        # Weight 1/N on every pair gives St. What differs from it within the classes is added.
        N, D = X.shape
        within, between = np.zeros((D, D)), X.T @ X
        classes = [X[y == label] for label in np.unique(y)]
        t = self.t
        if self.kernel == "heat" and t is None:
            t = _width(
                np.concatenate([pdist(members, "sqeuclidean") for members in classes]), self.c
            )
        for members in classes:
            squared = cdist(members, members, "sqeuclidean")
            s = self._local(squared) if self.kernel == "local" else _heat(squared, t)
            within += laplacian_scatter(members, s / len(members))
            between += laplacian_scatter(members, s * (1 / N - 1 / len(members)) - 1 / N)
        return between, within

    def _local(self, squared: Array) -> Array:
        K = min(self.n_neighbors, len(squared) - 1)
        sigma = np.sqrt(np.sort(squared, axis=1)[:, K])  # column 0 is the sample itself
        with np.errstate(divide="ignore", invalid="ignore"):
            s = np.exp(-squared / np.outer(sigma, sigma))
        return np.where(squared == 0, 1.0, s)


@dataclass(eq=False, repr=False)
class MFA(GraphEmbedding):
    """Marginal Fisher Analysis (Yan et al.). The paper compares SLNP with it but doesn't define it.

    Makes ``w'X'L_w Xw`` small relative to ``w'X'L_b Xw``. The first graph links each sample with
    its K nearest of the same class, the second links near pairs of different classes. Weights are 0
    or 1, and a pair is linked if either end asks for it.

    Conventions. Implementations differ in which between-class pairs are linked. See ``pairs``.

    Parameters
    ----------
    n_components : int, optional
        Directions (d). By default C - 1 or the rank of the second matrix, whichever is less.
    n_neighbors : int, default 5
        k1. N_i - 1 in smaller classes.
    n_pairs : int, default 20
        k2, pairs of the second graph.
    pairs : {"class", "sample", "overall"}, default "class"
        The k2 nearest pairs between each class and the rest (Yan et al.), the k2 nearest of other
        classes for each sample (several implementations), or the k2 nearest of all pairs (Cai's
        code).
    basis : {"own", "whitened", "orthonormal", "unit"}, default "own"

    Attributes
    ----------
    components_ : array of shape (d, D)
    mean_ : array of shape (D,)
    eigenvalues_ : array of shape (d,), ascending
    """

    n_components: int | None = None
    n_neighbors: int = 5
    _: KW_ONLY
    n_pairs: int = 20
    pairs: str = "class"
    basis: str = "own"

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_integer("n_pairs", self.n_pairs, 1)
        check_choice("pairs", self.pairs, ("class", "sample", "overall"))

    def _matrices(self, X: Array, y: Any) -> tuple[Array, Array]:
        within = nearest_neighbour_graph(X, self.n_neighbors, y)
        return laplacian_scatter(X, within), laplacian_scatter(X, self._between(X, y))

    def _between(self, X: Array, y: Any) -> csr_array:
        rows, columns, lengths = [], [], []
        for label in np.unique(y):
            j = np.flatnonzero(y == label)
            # With "overall", a pair must be counted once: from its smaller label.
            k = np.flatnonzero(y > label if self.pairs == "overall" else y != label)
            D = cdist(X[j], X[k], "sqeuclidean")
            if self.pairs == "sample":
                order = np.argsort(D, axis=1, kind="stable")[:, : self.n_pairs]
                p, q = np.repeat(np.arange(len(j)), order.shape[1]), order.ravel()
            else:
                order = np.argsort(D, axis=None, kind="stable")[: self.n_pairs]
                p, q = np.unravel_index(order, D.shape)
            rows.append(j[p])
            columns.append(k[q])
            lengths.append(D[p, q])
        j, k = np.concatenate(rows), np.concatenate(columns)
        if self.pairs == "overall":
            kept = np.argsort(np.concatenate(lengths), kind="stable")[: self.n_pairs]
            j, k = j[kept], k[kept]
        return _link(j, k, len(X))


@dataclass(eq=False, repr=False)
class LSDA(GraphEmbedding):
    """Locality Sensitive Discriminant Analysis (Cai et al.). The paper doesn't define it.

    One K-nearest-neighbour graph over all samples is split by label into ``W_w`` (same class) and
    ``W_b`` (different classes). W makes ``w'X'(beta/(1-beta) L_b + W_w)Xw`` large relative to
    ``w'X'D_w Xw``.

    Conventions. Cai's code uses beta = 0.1 and counts each sample as its own neighbour. Other
    implementations use 0.5 and no such self-loops.

    Parameters
    ----------
    n_components : int, optional
        Directions (d). By default C - 1 or the rank of ``X'D_w X``, whichever is less.
    n_neighbors : int, default 5
        K of the one graph.
    beta : float, default 0.1
        Weight of the between-class graph, 0 <= beta < 1.
    self_loops : bool, default True
        Whether each sample counts as its own neighbour.
    basis : {"own", "whitened", "orthonormal", "unit"}, default "own"

    Attributes
    ----------
    components_ : array of shape (d, D)
    mean_ : array of shape (D,)
    eigenvalues_ : array of shape (d,), descending
    """

    maximises = True

    n_components: int | None = None
    n_neighbors: int = 5
    _: KW_ONLY
    beta: float = 0.1
    self_loops: bool = True
    basis: str = "own"

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_number("beta", self.beta, 0, np.nextafter(1, 0))

    def _matrices(self, X: Array, y: Any) -> tuple[Array, Array]:
        N = len(X)
        j, k = nearest_neighbour_graph(X, self.n_neighbors).tocoo().coords
        same = y[j] == y[k]
        W_w, W_b = _link(j[same], k[same], N), _link(j[~same], k[~same], N)
        if self.self_loops:
            W_w = W_w + diags_array(np.ones(N))
        A = self.beta / (1 - self.beta) * laplacian_scatter(X, W_b) + X.T @ (W_w @ X)
        return A, X.T @ (W_w.sum(axis=1)[:, None] * X)


def _heat(squared: Array, t: Any) -> Array:
    """``exp(-d^2 / t)`` (13), the kernel that LPP and the paper's LFDA share."""
    return np.asarray(np.exp(-squared / t))


def _width(squared: Array, c: float = 1.0) -> float:
    """``c * mean(d^2)``. Where all samples are equal any width will do."""
    return c * float(squared.mean() or 1.0)


def nearest_neighbour_graph(X: Array, n_neighbors: int, y: Any = None) -> csr_array:
    """Symmetric 0/1 graph: linked if either is among the other's K nearest.

    With labels, only samples of the same class count.
    """
    indices, distances = Search()(X, np.zeros(len(X)) if y is None else y, n_neighbors)
    graph = similarity_matrix(indices, np.isfinite(distances).astype(float))
    return graph.maximum(graph.T)


def _link(j: Any, k: Any, N: int) -> csr_array:
    """Symmetric 0/1 graph of N samples that links j[i] with k[i] for each i.

    No pair may come twice in the same order.
    """
    graph = csr_array((np.ones(len(j)), (j, k)), shape=(N, N))
    return graph.maximum(graph.T)
