"""What SLNP and the baselines share: checks of the input, centring, the basis, ``transform``."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    assert_all_finite,
    check_array,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from slnp_edu.steps import Array, fix_signs, smallest_eigenvectors, whitening

BASES = ("own", "whitened", "orthonormal", "unit")
_LARGEST = float(np.finfo(float).max)


def in_basis(W: Array, basis: str, X: Array | None = None) -> Array:
    """Return the basis asked for of the subspace spanned by the columns of W.

    "whitened" and "orthonormal" are Gram-Schmidt, column by column, in the inner product of St and
    in the usual one. A W that already meets the constraint comes back as it is, up to rounding and
    signs: each column's largest entry is positive. Other bases that meet the same constraint
    differ by a rotation, which no distance between projected samples notices.

    Which basis suits which use? "whitened" gives every direction the same variance: for methods
    judged under the paper's constraint, and for features in different units. "orthonormal" keeps
    the units of the data, so strong directions count more: for images, and for plots whose
    distances mean something. "unit" is what widely used MATLAB code returns: its columns aren't at
    right angles, and distances depend on which columns span the subspace. "own" is for looking at
    one method by itself. Compare methods only in one common basis, never in "own".

    Parameters
    ----------
    W : array of shape (D, d)
        For scikit-learn's PCA pass ``pca.components_.T``, for its LDA ``lda.scalings_[:, :d]``.
    basis : {"own", "whitened", "orthonormal", "unit"}
        "own" leaves W as its method made it. "whitened" gives ``W'StW = I``, the paper's (22), with
        ``St = X'X``. "orthonormal" gives ``W'W = I``. "unit" scales each column to length 1.
    X : array of shape (N, D), optional
        The training samples, centred or not. Needed for "whitened" only.

    Returns
    -------
    W : array of shape (D, d)
        With fewer columns if some can't be had: no scale gives variance to a direction in which
        the samples have none (D > N - 1, say), and a column that depends on earlier ones adds
        nothing. Such columns are dropped, as `slnp_edu.steps.whitening` drops them.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[0.0], [-2.0]])
    >>> in_basis(W, "orthonormal")
    array([[0.],
           [1.]])
    >>> X = np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]])
    >>> in_basis(W, "whitened", X) * np.sqrt(8)
    array([[0.],
           [1.]])
    """
    check_choice("basis", basis, BASES)
    if basis == "own":
        return W
    if basis == "unit":
        length = np.linalg.norm(W, axis=0)
        return fix_signs(W[:, length > 0] / length[length > 0]) + 0.0
    if basis == "orthonormal":
        X = np.eye(len(W))
    elif X is None:
        raise ValueError("basis='whitened' is W'StW = I: pass X, the training samples.")
    else:
        X = X - X.mean(axis=0)
    W = _gram_schmidt(_gram_schmidt(W, X), X)  # once more, to remove what rounding has left
    return fix_signs(W) + 0.0  # turns -0.0 into 0.0


def _gram_schmidt(W: Array, X: Array) -> Array:
    """Make the columns of W orthonormal in the inner product of ``X'X``.

    A column of which only rounding is left is dropped.
    """
    Y = X @ W
    rounding = 10 * max(Y.shape) * np.finfo(float).eps * np.linalg.norm(X)
    V, Q = np.empty((len(W), 0)), np.empty((len(Y), 0))
    for w, y in zip(W.T, Y.T, strict=True):
        shares = Q.T @ y
        v, q = w - V @ shares, y - Q @ shares
        left = np.linalg.norm(q)
        if left > rounding * np.linalg.norm(w):
            V, Q = np.column_stack([V, v / left]), np.column_stack([Q, q / left])
    if V.shape[1] == 0:
        raise ValueError("The samples do not vary in any direction of W.")
    return V


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


def check_integer(name: str, value: object, at_least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}; got {value!r}.")


def check_number(name: str, value: Any, low: float, high: float = _LARGEST) -> None:
    """Refuse what isn't a number with ``low <= value <= high``."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low <= float(value) <= high:
        limit = "" if high == _LARGEST else f" and at most {high}"
        raise ValueError(
            f"{name} must be a finite number of at least {low:g}{limit}; got {value!r}."
        )


def _check_samples(X: Any, at_least: int = 1) -> Array:
    """Return X as floats, or say in a sentence why it can't be used."""
    if issparse(X):
        raise TypeError("X is a sparse matrix; pass a dense one, X.toarray().")
    try:
        samples: Array = check_array(
            X, dtype=np.float64, ensure_2d=False, ensure_min_samples=at_least, input_name="X"
        )
    except ValueError as error:  # scikit-learn's first line says it; the rest prints the data
        raise ValueError(str(error).split("\n")[0]) from None
    if samples.ndim != 2:
        raise ValueError(
            f"Reshape your data: X must be 2D, samples x features; it is {samples.ndim}D."
        )
    return samples


def count_directions(n_components: int | None, rank: int, y: Any) -> int:
    """Return d: what was asked for, or C - 1 (with no labels, all), never above the rank."""
    if rank == 0:
        raise ValueError("The samples do not vary in any direction this method can use.")
    if n_components is None:
        return rank if y is None else min(len(np.unique(y)) - 1, rank)
    if n_components > rank:
        raise ValueError(f"n_components={n_components} is above the rank, {rank}.")
    return int(n_components)


class LinearProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A linear projection learned from samples.

    A method says what it refuses (`_check_parameters`) and how it learns W from centred data
    (`_learn`), which ends by storing whatever else it has learned: a failed ``fit`` changes
    nothing.
    """

    own_basis = "own"  # "whitened" or "orthonormal" if that's the method's own constraint
    n_components: int | None
    basis: str

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the projection.

        Parameters
        ----------
        X : array of shape (N, D)
        y : array of shape (N,)
            Class labels: numbers or strings.

        Returns
        -------
        self
        """
        check_choice("basis", self.basis, BASES)
        if self.n_components is not None:
            check_integer("n_components", self.n_components, 1)
        self._check_parameters()
        samples = _check_samples(X, at_least=2)
        labels = self._check_labels(y, len(samples)) if self._uses_labels() else None
        mean = samples.mean(axis=0)
        W = self._learn(samples - mean, labels)
        validate_data(self, X, skip_check_array=True)  # notes feature names and their number
        self.mean_: Array = mean
        basis = "own" if self.basis == self.own_basis else self.basis
        self.components_: Array = in_basis(W, basis, samples).T
        return self

    def transform(self, X: Any) -> Array:
        """Project the rows of X: ``(X - mean_) @ components_.T``."""
        check_is_fitted(self)
        samples = _check_samples(X)
        validate_data(self, X, reset=False, skip_check_array=True)  # the same features as in fit?
        return (samples - self.mean_) @ self.components_.T

    def _uses_labels(self) -> bool:
        return True

    def _check_parameters(self) -> None:
        """Refuse what is out of range. A method without parameters of its own refuses nothing."""

    @abstractmethod
    def _learn(self, X: Array, y: Any) -> Array: ...

    def _check_labels(self, y: Any, N: int) -> NDArray[np.intp]:
        """Labels as 0 ... C - 1."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y = column_or_1d(y, warn=True)
        if len(y) != N:
            raise ValueError(f"X has {N} samples but y has {len(y)} labels.")
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        _, label, sizes = np.unique(y, return_inverse=True, return_counts=True)
        if len(sizes) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes; y has one class.")
        if sizes.max() < 2:
            raise ValueError(f"{type(self).__name__} needs a class of at least two samples.")
        return np.asarray(label)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._uses_labels()
        return tags


class GraphEmbedding(LinearProjection):
    """A method that pits two matrices against each other.

    `_matrices` returns A and B. W makes ``tr(W'AW)`` as small as can be (as large, if
    ``maximises``) under ``W'BW = I``. Null directions of B are dropped.
    """

    maximises = False

    @abstractmethod
    def _matrices(self, X: Array, y: Any) -> tuple[Array, Array]: ...

    def _learn(self, X: Array, y: Any) -> Array:
        A, B = self._matrices(X, y)
        P = whitening(B)
        sign = -1.0 if self.maximises else 1.0
        d = count_directions(self.n_components, P.shape[1], y)
        W, values = smallest_eigenvectors(sign * A, P, d)
        self.eigenvalues_ = sign * values
        return W
