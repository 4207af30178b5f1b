"""What the records say, in numbers and in words.

`summarise` is for rates. Two methods are compared in three steps, each a function:

1. `tally` counts, for each split and cluster, how many more images one of them got right.
2. `difference` turns counts into points, with two standard errors, for there are two questions:

   - *These test images*: had all possible splits of these very images been drawn, which method
     would be ahead, and by how much? Splits are drawn independently, so Student's interval over
     splits answers it.
   - *New images of the kind*: and with other subjects, objects or digits? Then the images that
     happened to be photographed are a sample too. They come in clusters: all images of a subject
     or an object are hard or easy together. A digit is a cluster of its own.

3. `judge` turns the differences of a family into words. It asks two separate questions, each with
   Holm's correction over the family. Is the difference other than zero? Is it within the margin
   (two one-sided tests)? The answers make a word:

   ================  ===============================================  =============
   ..                within the margin                                not shown
   ================  ===============================================  =============
   other than zero   ahead, or behind, by less than the margin        ahead, behind
   not shown         level                                            undecided
   ================  ===============================================  =============

   A narrower interval around the same points never takes an answer back. The margin, fixed before
   the runs, is one point, or a tenth of the errors (`Difference.tenth`).

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
SMALLER = " by less than the margin"
#: Every answer that there is, from one end to the other.
WORDS = ("ahead", f"ahead{SMALLER}", "level", "undecided", f"behind{SMALLER}", "behind")


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
    return Summary(float(np.mean(rates)), reach(rates), reach(rates, 1))


def reach(rates: Sequence[float], m: float = np.inf) -> float:
    """Half-width around our mean where 95 % of the means of ``m`` further splits would fall.

    With infinitely many it's the 95 % interval of the mean.
    """
    n = len(rates)
    spread = np.std(rates, ddof=1) * np.sqrt(1 / m + 1 / n)
    return float(t.ppf(1 - ALPHA / 2, n - 1) * spread)


def explained(printed: float, ours: Sequence[float], m: float = 1) -> bool:
    """Could the paper's figure be the mean of ``m`` more splits? It doesn't say how many it took.

    Examples
    --------
    >>> [explained(88.5, [80.0, 82.0, 84.0], m) for m in (1, 2, 5, 10, 20)]
    [True, True, False, False, False]
    """
    return bool(abs(printed - np.mean(ours)) <= reach(ours, m))


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

    All of shape (splits, clusters): by how many right images the first method leads, how many
    images were tested, and how many the other method gets wrong. A single cluster, all images
    together, says nothing of new images.
    """

    gain: Array
    tested: Array
    missed: Array


def tally(first: Array, second: Array, clusters: Array) -> Tally:
    """Count right images of two methods for each split and cluster.

    Parameters
    ----------
    first, second : boolean arrays of shape (splits, n_test)
        Was the test image recognised?
    clusters : array of shape (splits, n_test)
        The subject or object that the test image shows. For digits, which image it is.

    Examples
    --------
    >>> counts = tally([[True, True, False]], [[False, True, True]], [["Ann", "Ann", "Bob"]])
    >>> counts.gain, counts.tested, counts.missed
    (array([[ 1., -1.]]), array([[2., 1.]]), array([[1., 0.]]))
    """
    names, held = np.unique(clusters, return_inverse=True)
    held = held.reshape(np.shape(clusters))
    second = np.asarray(second, dtype=bool)
    counted = (np.asarray(first) - second.astype(float), np.ones(held.shape), ~second)
    return Tally(
        *(
            np.array([np.bincount(c, v, len(names)) for c, v in zip(held, values, strict=True)])
            for values in counted
        )
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
        """Two-sided p of "there's no difference"."""
        return 2 * t.sf(np.abs(self.points) / np.maximum(self.error, 1e-12), self.df)

    def p_margin(self, margin: Any = MARGIN) -> Any:
        """p of "the difference is a margin or more": the larger of two one-sided tests (TOST)."""
        return t.sf((margin - np.abs(self.points)) / np.maximum(self.error, 1e-12), self.df)


class Difference(NamedTuple):
    """First method minus second: in images of the test part, and in points, as two estimates.

    ``errors`` is how many per cent of the images the second method gets wrong. ``new`` is None
    where only the counts of a split are known.
    """

    images: Any
    tested: Any
    errors: Any
    these: Estimate
    new: Estimate | None

    @property
    def tenth(self) -> Any:
        """The second margin, in points: a tenth of the errors, the mean of the two methods."""
        return (self.errors - self.these.points / 2) / 10


def difference(*counts: Tally) -> Difference:
    """How far the first method is ahead, in points: on these test images and on new ones.

    The variance for *these test images* is a mean's over splits. *New images of the kind* add
    the variance of a mean over clusters, less the part that the splits' own noise has in it:
    as in the two-way analysis of variance, (MS_splits + MS_clusters - MS_residual) / (splits x
    clusters), where clusters aren't allowed to lower it. The degrees of freedom come from the
    shorter side.

    The methods aren't trained again on other subjects. So "new images" means: tested on others
    of the kind, all else as it was. With new training subjects the uncertainty can only grow.

    Parameters
    ----------
    *counts : Tally
        One column of a table, or several of the same data set, then the mean of the columns. Their
        splits are independent, their clusters the same. Leading axes of the arrays are repetitions.

    Returns
    -------
    Difference

    Examples
    --------
    >>> tested, missed = np.full((2, 3), 50), np.full((2, 3), 5)
    >>> found = difference(Tally(np.array([[2, 0, 1], [1, 0, 2]]), tested, missed))
    >>> print(f"{found.these.points:.1f} points, {found.images:.1f} of {found.tested:.0f}")
    2.0 points, 3.0 of 150
    >>> print(f"of {found.errors:.0f} % errors; a tenth of both methods': {found.tenth}")
    of 10 % errors; a tenth of both methods': 0.9
    """
    found = [_shares(each) for each in counts]
    n = len(found)
    points = sum(mean for mean, _ in found) / n
    splits = sum(_split_variance(shares) for _, shares in found) / n**2
    df = sum(shares.shape[-2] - 1 for _, shares in found)
    tested = sum(each.tested.sum(axis=-1).mean(axis=-1) for each in counts) / n
    errors = sum((c.missed.sum(axis=-1) / c.tested.sum(axis=-1)).mean(axis=-1) for c in counts) / n
    these = Estimate(points, np.sqrt(splits), df)
    C = found[0][1].shape[-1]
    if C == 1:
        new = None
    else:
        noise = sum(_noise_variance(shares) for _, shares in found) / n**2
        of_clusters = sum(shares.mean(axis=-2) for _, shares in found) / n
        clusters = np.sum(of_clusters**2, axis=-1) * C / (C - 1)
        error = np.sqrt(splits + np.maximum(clusters - noise, 0))
        new = Estimate(points, error, min(df, C - 1))
    return Difference(points / 100 * tested, tested, 100 * errors, these, new)


def over_splits(first: Any, second: Any) -> Estimate:
    """Estimate for these test images from the rates of two methods alone, split by split."""
    lead = np.subtract(first, second)
    return Estimate(lead.mean(), lead.std(ddof=1) / np.sqrt(len(lead)), len(lead) - 1)


def _shares(counts: Tally) -> tuple[Any, Array]:
    """Mean difference in points, and what each split and cluster adds to it or takes from it."""
    n_test = counts.tested.sum(axis=-1, keepdims=True)
    mean = 100 * (counts.gain / n_test).sum(axis=-1).mean(axis=-1)
    return mean, (100 * counts.gain - mean[..., None, None] * counts.tested) / n_test


def _split_variance(shares: Array) -> Any:
    """Of the mean over splits. The sum over clusters is a split's difference from that mean."""
    return np.var(shares.sum(axis=-1), axis=-1, ddof=1) / shares.shape[-2]


def _noise_variance(shares: Array) -> Any:
    """Of the mean, from what neither the split nor the cluster explains (both means taken out)."""
    S, C = shares.shape[-2:]
    rest = shares - shares.mean(axis=-1, keepdims=True) - shares.mean(axis=-2, keepdims=True)
    return np.sum(rest**2, axis=(-2, -1)) * C / (S * (S - 1) * (C - 1))


class Finding(NamedTuple):
    """One of `WORDS`, the points, the half-width of their 95 % interval, and the two p, Holm's."""

    word: str
    points: float
    interval: float
    p_zero: float
    p_margin: float


class Verdict(NamedTuple):
    """What can be said of two methods: on these test images, and for new images of the kind.

    `images` is how many more of the `tested` images of a split the first method gets right, and
    `errors` how many per cent of them the second gets wrong.
    """

    images: float
    tested: float
    errors: float
    these: Finding
    new: Finding | None

    @property
    def fewer(self) -> float:
        """How many per cent fewer errors the first method makes on these test images."""
        return 100 * self.these.points / self.errors


def judge(
    differences: Mapping[Key, Difference], margin: float | Mapping[Key, float] = MARGIN
) -> dict[Key, Verdict]:
    """Turn differences into words. All comparisons of one family belong into one call.

    Parameters
    ----------
    differences : mapping
        From whatever names a comparison to its `Difference`.
    margin : float or mapping
        In points, or one for each comparison, such as its `Difference.tenth`.

    Returns
    -------
    verdicts : dict with the same keys

    Examples
    --------
    >>> clear, faint = Estimate(2.0, 0.3, 19), Estimate(0.1, 0.2, 19)
    >>> found = judge({"MFA": Difference(40, 2000, 10, clear, Estimate(2.0, 0.9, 19)),
    ...                "LFDA": Difference(2, 2000, 8, faint, Estimate(0.1, 0.3, 19))})
    >>> {other: (verdict.these.word, verdict.new.word) for other, verdict in found.items()}
    {'MFA': ('ahead', 'undecided'), 'LFDA': ('level', 'level')}
    >>> f"{found['MFA'].fewer:.0f} % fewer errors than MFA"
    '20 % fewer errors than MFA'
    """
    margins = margin if isinstance(margin, Mapping) else dict.fromkeys(differences, margin)
    these = {key: each.these for key, each in differences.items()}
    new = {key: each.new for key, each in differences.items() if each.new is not None}
    on_these, on_new = (
        dict(zip(of, findings(list(of.values()), [margins[key] for key in of]), strict=True))
        for of in (these, new)
    )
    found = {}
    for key, each in differences.items():
        images, tested, errors = map(float, each[:3])
        found[key] = Verdict(images, tested, errors, on_these[key], on_new.get(key))
    return found


def findings(estimates: Sequence[Estimate], margin: Any = MARGIN) -> list[Finding]:
    """Words for a family of estimates, Holm's correction over all of them.

    ``margin`` is in points, one for all or one for each.
    """
    family = Estimate(*np.array(estimates, dtype=float).reshape(-1, 3).T)
    p_zero, p_margin = holm(family.p_zero), holm(family.p_margin(np.asarray(margin)))
    numbers = zip(family.points, family.interval, p_zero, p_margin, strict=True)
    return [
        Finding(_word(points, zero, within), points, interval, zero, within)
        for points, interval, zero, within in (map(float, each) for each in numbers)
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
    if p_zero >= ALPHA:
        return "level" if p_margin < ALPHA else "undecided"
    return ("ahead" if points > 0 else "behind") + (SMALLER if p_margin < ALPHA else "")


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


def corrected_resampled(differences: Sequence[float], n_train: int, n_test: int) -> Estimate:
    """Estimate by Nadeau and Bengio's corrected resampled t: a warning, not used for any word.

    They replace the variance of a mean over n splits, s²/n, by s² (1/n + n_test/n_train), since
    splits of one data set share images. The paper trains on the smaller part, 50 digits against
    4,950, and so the formula takes two splits to be 99 % correlated, although their training
    parts have hardly an image in common. At 20 splits the interval becomes 44 times as wide.
    What the shared test images really do, `difference` estimates from their clusters.

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
