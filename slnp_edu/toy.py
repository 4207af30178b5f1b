"""Toy data after Fig. 1 of the paper: unstable features beside a useful one."""

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state


def make_toy(
    kind: str = "points",
    *,
    n_samples: int = 100,
    noise: float = 4.0,
    random_state: Any = 0,
    return_X_y: bool = False,
) -> Any:
    """Make the toy data of the paper's Fig. 1: an unstable feature beside a useful one.

    Feature 0 is lightness (unstable), feature 1 is length (tells the classes apart).

    Parameters
    ----------
    kind : {"points", "classes"}, default "points"
        "points": the three points a, b, c of Fig. 1. In the plane b is the nearest to a. On the
        length axis c is, and a and c are in the same class.
        "classes": two classes with mean lengths -1 and 1 and standard deviation 0.4.
    n_samples : int, default 100
        Number of points for "classes", half of them in each class.
    noise : float, default 4.0
        Standard deviation of the lightness for "classes".
    random_state : int, RandomState or None, default 0
    return_X_y : bool, default False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (n, 2), ``target`` (n,), ``feature_names``. "points" has ``point_names`` too.
    """
    if kind not in ("points", "classes"):
        raise ValueError(f"kind must be points or classes; got {kind!r}.")
    if kind == "points":
        data, labels = np.array([[1.0, 1.0], [2.0, 3.0], [5.0, 1.5]]), np.array([0, 1, 0])
        facts: dict[str, Any] = {"point_names": np.array(["a", "b", "c"])}
    else:
        rng = check_random_state(random_state)
        labels = np.arange(n_samples) % 2
        lightness = noise * rng.standard_normal(n_samples)
        length = 2.0 * labels - 1 + 0.4 * rng.standard_normal(n_samples)
        data, facts = np.column_stack([lightness, length]), {}
    if return_X_y:
        return data, labels
    return Bunch(data=data, target=labels, feature_names=["lightness", "length"], **facts)


def make_fish(
    n_samples: int = 60,
    *,
    flicker: float = 1.0,
    n_flickers: int = 1,
    young: float = 0.7,
    random_state: Any = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Make the fish of the book's running story: two kinds, one of which has two clumps.

    Half of the fish are of kind 0 and are young (length about -2.5) or old (about 2.5). The
    others, of kind 1, have a length of about 0, in between. Every length scatters by 0.5. How
    light a fish looks says nothing about its kind: the lamp flickers.

    Parameters
    ----------
    n_samples : int, default 60
    flicker : float, default 1.0
        Standard deviation of each reading of the lightness.
    n_flickers : int, default 1
        Readings of the lightness, each under a flicker of its own.
    young : float, default 0.7
        Share of kind 0 that is young. With 0.5 the mean lengths of the two kinds are the same.
    random_state : int, RandomState or None, default 0

    Returns
    -------
    X : array of shape (n_samples, n_flickers + 1)
        The readings of the lightness, and the length in the last column.
    y : array of shape (n_samples,)
        0 and 1 in turn.

    Examples
    --------
    >>> X, y = make_fish(4, young=0.5)
    >>> (X[:, -1] > 1).tolist(), y.tolist()
    ([False, False, True, False], [0, 1, 0, 1])
    """
    rng = check_random_state(random_state)
    y = np.arange(n_samples) % 2
    rank = np.arange(n_samples) // 2 / ((n_samples + 1) // 2)  # of a fish within its kind
    middle = np.where(y == 1, 0.0, np.where(rank < young, -2.5, 2.5))
    lightness = flicker * rng.standard_normal((n_samples, n_flickers))
    length = middle + 0.5 * rng.standard_normal(n_samples)
    return np.column_stack([lightness, length]), y
