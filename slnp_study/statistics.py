"""What the records say, in numbers and in words.

`summarise` is for rates. Two methods are compared in three steps, each a function:

1. `tally` counts, for each split and cluster, how many more images one of them got right;
2. `difference` turns counts into points, with two standard errors, for there are two questions:

   - *These images*: had all possible splits of these very images been drawn, which method would be
     ahead, and by how much? Splits are drawn independently, so Student's interval over splits
     answers it.
   - *Such images*: and with other subjects, objects or digits of the same kind? Then the images
     that happened to be photographed are a sample too. They come in clusters: all images of a
     subject or an object are hard or easy together; a digit is a cluster of its own.

3. `judge` turns the differences of a data set into words. A margin of one point was fixed before
   the runs. "level" is said only where a test of equivalence shows the difference to be smaller
   than the margin; "ahead" or "behind" only where the difference is not zero even after Holm's
   correction for all comparisons of the data set; else "undecided". The margin goes first: a
   difference that is not zero, but shown to be smaller than a point, is called "level", and
   `Finding.phrase` adds whose mean is higher. So "ahead" does not say by a point or more; and a
   pair that is level for these images may be "ahead" for such images, where the wider interval
   keeps off zero but no longer off a point.

Nothing else in the project decides who is ahead.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from slnp_study.paper import COMMON_BASES

Array = NDArray[Any]
Key = TypeVar("Key", bound=Hashable)

MARGIN = 1.0  # points; fixed before the runs
ALPHA = 0.05


class Summary(NamedTuple):
    """Mean of the splits, with two half-widths at 95 %: of the mean, and of one more split."""

    mean: float
    interval: float
    one_split: float


def summarise(rates: Sequence[float]) -> Summary:
    """Mean, 95 % interval of the mean, and where 95 % of further splits would fall (Student's t).

    Examples
    --------
    >>> [round(float(value), 2) for value in summarise([80.0, 82.0, 84.0])]
    [82.0, 4.97, 9.94]
    """
    n = len(rates)
    quantile, spread = t.ppf(0.975, n - 1), np.std(rates, ddof=1)
    return Summary(
        float(np.mean(rates)),
        float(quantile * spread / np.sqrt(n)),
        float(quantile * spread * np.sqrt(1 + 1 / n)),
    )


def explained(printed: float, ours: Sequence[float]) -> bool:
    """Does the paper's figure lie where 95 % of further single splits would fall?"""
    summary = summarise(ours)
    return abs(printed - summary.mean) <= summary.one_split


class Outcomes(NamedTuple):
    """Which test images of a split were right."""

    right: NDArray[np.bool_]  #: of shape (methods, bases, images), in the order of the next two
    methods: tuple[str, ...]
    bases: tuple[str, ...]
    rows: NDArray[np.intp]  #: of shape (images,), where the test images stand in the data set
    labels: NDArray[np.intp]  #: of shape (images,), their classes: 0 ... C - 1

    def of(self, method: str, basis: str) -> NDArray[np.bool_]:
        """Return the outcomes of one method in one basis, of shape (images,)."""
        right: NDArray[np.bool_] = self.right[self.methods.index(method), self.bases.index(basis)]
        return right


class Tally(NamedTuple):
    """Two methods on the same test images, counted for each split and cluster.

    Both of shape (splits, clusters): by how many right images the first method leads, and how many
    images were tested.
    """

    gain: Array
    tested: Array


def tally(first: Array, second: Array, clusters: Array) -> Tally:
    """Count right images of two methods for each split and cluster.

    Parameters
    ----------
    first, second : boolean arrays of shape (splits, n_test)
        Was the test image recognised?
    clusters : array of shape (splits, n_test)
        The subject or object that the test image shows; for digits, which image it is.

    Examples
    --------
    >>> counts = tally([[True, True, False]], [[False, True, True]], [["Ann", "Ann", "Bob"]])
    >>> counts.gain, counts.tested
    (array([[ 1., -1.]]), array([[2., 1.]]))
    """
    names, held = np.unique(clusters, return_inverse=True)
    held = held.reshape(np.shape(clusters))
    lead = np.asarray(first, dtype=float) - np.asarray(second)
    return Tally(
        np.array([np.bincount(c, g, len(names)) for c, g in zip(held, lead, strict=True)]),
        np.array([np.bincount(c, minlength=len(names)) for c in held], dtype=float),
    )


class Estimate(NamedTuple):
    """Points, their standard error and its degrees of freedom."""

    points: Any
    error: Any
    df: Any

    @property
    def interval(self) -> Any:
        """Half-width of the 95 % interval."""
        return t.ppf(1 - ALPHA / 2, self.df) * self.error

    @property
    def p_zero(self) -> Any:
        """Two-sided p of "there is no difference"."""
        return 2 * t.sf(np.abs(self.points) / np.maximum(self.error, 1e-12), self.df)

    @property
    def p_margin(self) -> Any:
        """p of "the difference is a margin or more": the larger of two one-sided tests (TOST)."""
        return t.sf((MARGIN - np.abs(self.points)) / np.maximum(self.error, 1e-12), self.df)


class Difference(NamedTuple):
    """First method minus second: in images of the test part, and in points, as two estimates."""

    images: Any
    tested: Any
    these: Estimate
    such: Estimate


def difference(*counts: Tally) -> Difference:
    """How far the first method is ahead, in points, for these images and for such images.

    The variance for *these images* is that of a mean over splits. *Such images* add the variance
    of a mean over clusters, less the part that the splits' own noise has in it: as in the two-way
    analysis of variance, (MS_splits + MS_clusters - MS_residual) / (splits x clusters), where
    clusters are not allowed to lower it. The degrees of freedom are those of the shorter side.

    The methods are not trained again on other subjects. So "such images" means: tested on others
    of the kind, all else as it was; with new training subjects the uncertainty can only grow.

    Parameters
    ----------
    *counts : Tally
        One column of a table; or several of the same data set, then the mean of the columns. Their
        splits are independent, their clusters the same. Leading axes of the arrays are repetitions.

    Returns
    -------
    Difference

    Examples
    --------
    >>> found = difference(Tally(np.array([[2, 0, 1], [1, 0, 2]]), np.full((2, 3), 50)))
    >>> print(f"{found.these.points:.1f} points, {found.images:.1f} of {found.tested:.0f}")
    2.0 points, 3.0 of 150
    """
    found = [_shares(each) for each in counts]
    n = len(found)
    points = sum(mean for mean, _ in found) / n
    splits = sum(_split_variance(shares) for _, shares in found) / n**2
    noise = sum(_noise_variance(shares) for _, shares in found) / n**2
    of_clusters = sum(shares.mean(axis=-2) for _, shares in found) / n
    C = of_clusters.shape[-1]
    clusters = np.sum(of_clusters**2, axis=-1) * C / (C - 1)
    df = sum(shares.shape[-2] - 1 for _, shares in found)
    tested = sum(each.tested.sum(axis=-1).mean(axis=-1) for each in counts) / n
    return Difference(
        points / 100 * tested,
        tested,
        Estimate(points, np.sqrt(splits), df),
        Estimate(points, np.sqrt(splits + np.maximum(clusters - noise, 0)), min(df, C - 1)),
    )


def over_splits(first: Any, second: Any) -> Estimate:
    """Estimate for these images from the rates of two methods alone, split by split.

    For what was recorded without its images; of such images it can say nothing.
    """
    lead = np.subtract(first, second)
    return Estimate(lead.mean(), lead.std(ddof=1) / np.sqrt(len(lead)), len(lead) - 1)


def _shares(counts: Tally) -> tuple[Any, Array]:
    """Mean difference in points, and what each split and cluster adds to it or takes from it."""
    n_test = counts.tested.sum(axis=-1, keepdims=True)
    mean = 100 * (counts.gain / n_test).sum(axis=-1).mean(axis=-1)
    return mean, (100 * counts.gain - mean[..., None, None] * counts.tested) / n_test


def _split_variance(shares: Array) -> Any:
    """Of the mean over splits; the sum over clusters is a split's difference from that mean."""
    return np.var(shares.sum(axis=-1), axis=-1, ddof=1) / shares.shape[-2]


def _noise_variance(shares: Array) -> Any:
    """Of the mean, from what neither the split nor the cluster explains (both means taken out)."""
    S, C = shares.shape[-2:]
    rest = shares - shares.mean(axis=-1, keepdims=True) - shares.mean(axis=-2, keepdims=True)
    return np.sum(rest**2, axis=(-2, -1)) * C / (S * (S - 1) * (C - 1))


class Finding(NamedTuple):
    """One answer: the word, the points, the half-width of their 95 % interval, and the two p.

    `p_zero` is Holm's, `p_margin` that of the equivalence test.
    """

    word: str
    points: float
    interval: float
    p_zero: float
    p_margin: float

    @property
    def phrase(self) -> str:
        """The word; if level although not equal, which mean is higher and by how many points.

        Examples
        --------
        >>> Finding("level", -0.31, 0.2, 0.01, 0.001).phrase
        'level (lower by 0.31)'
        >>> Finding("behind", -2.1, 0.6, 0.001, 0.99).phrase
        'behind'
        """
        if self.word == "level" and self.p_zero < ALPHA:
            side = "higher" if self.points > 0 else "lower"  # "ahead" is for what is not level
            return f"level ({side} by {abs(self.points):.2f})"
        return self.word


class Verdict(NamedTuple):
    """What can be said of two methods: for these images, and for such images.

    `images` is how many more of the `tested` images of a split the first method gets right.
    """

    images: float
    tested: float
    these: Finding
    such: Finding


class Verdicts(dict[tuple[int, str, str], Verdict]):
    """The verdicts of one data set: ``(N_i, other, basis) -> Verdict``."""

    def words(self, other: str, basis: str, scope: str = "these") -> list[str]:
        """One word for each column; ``scope`` is "these" images or "such"."""
        return [getattr(verdict, scope).word for verdict in self._of(other, basis)]

    def points(self, other: str, basis: str) -> Array:
        """Return the differences in points, one for each column."""
        return np.array([verdict.these.points for verdict in self._of(other, basis)])

    def _of(self, other: str, basis: str) -> list[Verdict]:
        return [verdict for (_, *pair), verdict in self.items() if pair == [other, basis]]


def judge(differences: Mapping[Key, Difference]) -> dict[Key, Verdict]:
    """Turn differences into words; all comparisons of one data set belong into one call.

    Parameters
    ----------
    differences : mapping
        From whatever names a comparison to its `Difference`.

    Returns
    -------
    verdicts : dict with the same keys

    Examples
    --------
    >>> clear, faint = Estimate(2.0, 0.3, 19), Estimate(0.1, 0.2, 19)
    >>> found = judge({"MFA": Difference(40, 2000, clear, Estimate(2.0, 0.9, 19)),
    ...                "LFDA": Difference(2, 2000, faint, Estimate(0.1, 0.4, 19))})
    >>> {other: (verdict.these.word, verdict.such.word) for other, verdict in found.items()}
    {'MFA': ('ahead', 'undecided'), 'LFDA': ('level', 'level')}
    """
    these = findings([each.these for each in differences.values()])
    such = findings([each.such for each in differences.values()])
    return {
        key: Verdict(float(each.images), float(each.tested), *pair)
        for (key, each), *pair in zip(differences.items(), these, such, strict=True)
    }


def findings(estimates: Sequence[Estimate]) -> list[Finding]:
    """Words for a family of estimates, Holm's correction over all of them."""
    family = Estimate(*np.array(estimates, dtype=float).T)
    p_zero = holm(family.p_zero)
    numbers = zip(family.points, family.interval, p_zero, family.p_margin, strict=True)
    return [
        Finding(_word(points, p, p_margin), points, interval, p, p_margin)
        for points, interval, p, p_margin in (map(float, each) for each in numbers)
    ]


def holm(p: Array) -> Array:
    """Holm's correction: reject where the result is at most alpha, and errors stay below alpha.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(2)
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    raised = np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order])
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(raised, 1)
    return corrected


def _word(points: float, p_zero: float, p_margin: float) -> str:
    if p_margin < ALPHA:
        return "level"
    if p_zero < ALPHA:
        return "ahead" if points > 0 else "behind"
    return "undecided"


def tallies(
    columns: Mapping[int, Sequence[Outcomes]], cluster: str, first: str = "SLNP"
) -> dict[tuple[int, str, str], Tally]:
    """Count one method against every other, in every column and common basis of a data set.

    Parameters
    ----------
    columns : mapping
        From N_i to the `Outcomes` of each split.
    cluster : {"class", "image"}
        What comes as a whole: subjects and objects are classes, a digit is an image.
    first : str

    Returns
    -------
    tallies : ``(N_i, other, basis) -> Tally``, first minus other, both in that basis
    """
    found = {}
    for N_i, splits in columns.items():
        clusters = np.array([s.labels if cluster == "class" else s.rows for s in splits])
        for basis in COMMON_BASES:
            right = {m: np.array([s.of(m, basis) for s in splits]) for m in splits[0].methods}
            ours = right.pop(first)
            for other, theirs in right.items():
                found[N_i, other, basis] = tally(ours, theirs, clusters)
    return found


def mean_of_columns(found: Sequence[Difference]) -> Difference:
    """Mean of several columns of one data set, for what was recorded without its images.

    Splits are drawn anew for each column, so for these images the errors are independent. For
    such images they're not: the columns show the same people, and their errors are averaged.
    """
    these, such = ([getattr(each, scope) for each in found] for scope in ("these", "such"))
    points, df = np.mean([each.points for each in these], axis=0), these[0].df
    error = np.sqrt(np.sum([each.error**2 for each in these], axis=0)) / len(these)
    images, tested = np.mean([each[:2] for each in found], axis=0)
    shared = np.mean([each.error for each in such], axis=0)
    alone = Estimate(points, error, df * len(found))
    return Difference(images, tested, alone, Estimate(points, shared, df))


def over_data_sets(effects: Mapping[str, float]) -> Estimate:
    """Mean over data sets, for data sets such as these: Student's t on as many numbers as sets.

    The model: a column's difference is an overall mean, plus an effect of the data set, plus noise.
    `difference` of all columns of a set gives the set's effect. What counts for a new data set
    is how far the effects lie apart, and three data sets leave two degrees of freedom, however
    many columns and splits each has. With as many columns in each it is the answer of the mixed
    model with a random intercept for each set, fitted by REML, with t in place of the normal.

    Parameters
    ----------
    effects : mapping
        From the name of a data set to the mean difference of its columns, in points.
    """
    points, n = list(effects.values()), len(effects)
    return Estimate(np.mean(points), np.std(points, ddof=1) / np.sqrt(n), n - 1)


def corrected_resampled(differences: Sequence[float], n_train: int, n_test: int) -> Estimate:
    """Estimate by Nadeau and Bengio's corrected resampled t: a warning, not used for any word.

    They replace the variance of a mean over n splits, s²/n, by s² (1/n + n_test/n_train), since
    splits of one data set share images. That takes the correlation of two splits' differences to
    be n_test/(n_test + n_train): a tenth, if nine tenths are for training. The paper trains on the
    smaller part, 50 digits against 4,950, and so the formula takes two splits to be 99 %
    correlated, although their training parts have hardly an image in common. At 20 splits the
    interval becomes 44 times as wide, and no method can be told from any other. What the shared
    test images really do, `difference` estimates from the clusters they come in.

    Examples
    --------
    >>> plain = summarise([1.0, 2.0, 1.5, 2.5, 1.0])
    >>> corrected = corrected_resampled([1.0, 2.0, 1.5, 2.5, 1.0], n_train=50, n_test=4950)
    >>> print(f"{plain.mean:.1f} ± {plain.interval:.1f}, or ± {corrected.interval:.1f}")
    1.6 ± 0.8, or ± 18.0
    """
    n = len(differences)
    variance = np.var(differences, ddof=1) * (1 / n + n_test / n_train)
    return Estimate(np.mean(differences), np.sqrt(variance), n - 1)
