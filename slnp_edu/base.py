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

BASES = ("whitened", "orthonormal")


def in_basis(W: Array, basis: str) -> Array:
    """Give the subspace spanned by the columns of W the basis asked for.

    Parameters
    ----------
    W : array of shape (D, d)
        Full column rank. For scikit-learn's LDA pass ``lda.scalings_[:, :d]``.
    basis : {"whitened", "orthonormal"}
        "whitened" leaves W as its method made it; "orthonormal" gives ``W'W = I``.

    Returns
    -------
    W : array of shape (D, d)

    Examples
    --------
    >>> import numpy as np
    >>> in_basis(np.array([[0.0], [-2.0]]), "orthonormal")
    array([[0.],
           [1.]])
    """
    check_choice("basis", basis, BASES)
    if basis == "whitened":
        return W
    # + 0.0 turns -0.0 into 0.0
    return fix_signs(np.linalg.qr(W)[0]) + 0.0


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


def check_integer(name: str, value: object, at_least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}; got {value!r}.")


def check_number(name: str, value: Any, low: float, high: float = np.inf) -> None:
    """Refuse what is not a number with ``low <= value < high``."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not low <= float(value) < high:
        limit = "" if np.isinf(high) else f" and below {high:g}"
        raise ValueError(
            f"{name} must be a finite number of at least {low:g}{limit}; got {value!r}."
        )


def check_samples(X: Any, at_least: int = 1) -> Array:
    """Return X as floats, or say in a sentence why it cannot be used."""
    if issparse(X):
        raise TypeError("X is a sparse matrix; pass a dense one, X.toarray().")
    try:
        X = check_array(
            X, dtype=np.float64, ensure_2d=False, ensure_min_samples=at_least, input_name="X"
        )
    except ValueError as error:  # scikit-learn's first line says it; the rest prints the data
        raise ValueError(str(error).split("\n")[0]) from None
    if X.ndim != 2:
        raise ValueError(f"Reshape your data: X must be 2D, samples x features; it is {X.ndim}D.")
    return X


class LinearProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A linear projection learned from samples.

    A method says what it refuses (`_check_parameters`) and how it learns W, and whatever else it
    leaves behind, from centred data (`_learn`). Nothing is stored on the estimator before all is
    there, so a failed ``fit`` changes nothing.
    """

    supervised = True
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
        samples = check_samples(X, at_least=2)
        labels = self._check_labels(y, len(samples)) if self.supervised else None
        mean = samples.mean(axis=0)
        W, learned = self._learn(samples - mean, labels)
        validate_data(self, X, skip_check_array=True)  # notes feature names and their number
        self.mean_ = mean
        self.components_ = in_basis(W, self.basis).T
        for name, value in learned.items():
            setattr(self, name, value)
        return self

    def transform(self, X: Any) -> Array:
        """Project the rows of X: ``(X - mean_) @ components_.T``."""
        check_is_fitted(self)
        samples = check_samples(X)
        validate_data(self, X, reset=False, skip_check_array=True)  # the features of fit?
        return (samples - self.mean_) @ self.components_.T

    @abstractmethod
    def _check_parameters(self) -> None: ...

    @abstractmethod
    def _learn(self, X: Array, y: Any) -> tuple[Array, dict[str, Any]]: ...

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
        _, y, sizes = np.unique(y, return_inverse=True, return_counts=True)
        if len(sizes) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes; y has one class.")
        if sizes.max() < 2:
            raise ValueError(f"{type(self).__name__} needs a class of at least two samples.")
        return y

    def _n_components(self, rank: int, y: Any) -> int:
        """d: what was asked for, or C - 1 (with no labels, all), never above the rank."""
        if rank == 0:
            raise ValueError("The samples do not vary in any direction this method can use.")
        if self.n_components is None:
            return rank if y is None else min(int(y.max()), rank)
        if self.n_components > rank:
            raise ValueError(f"n_components={self.n_components} is above the rank, {rank}.")
        return int(self.n_components)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.supervised
        return tags


class GraphEmbedding(LinearProjection):
    """A method that pits two matrices against each other.

    `_matrices` returns A and B; W makes ``tr(W'AW)`` as small as can be (as large, if
    ``maximises``) under ``W'BW = I``. Null directions of B are dropped.
    """

    maximises = False

    @abstractmethod
    def _matrices(self, X: Array, y: Any) -> tuple[Array, Array]: ...

    def _learn(self, X: Array, y: Any) -> tuple[Array, dict[str, Any]]:
        A, B = self._matrices(X, y)
        P = whitening(B)
        sign = -1.0 if self.maximises else 1.0
        W, values = smallest_eigenvectors(sign * A, P, self._n_components(P.shape[1], y))
        return W, {"eigenvalues_": sign * values}
