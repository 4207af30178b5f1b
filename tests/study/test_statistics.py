"""From records to words: against other codes, and on simulated data whose truth is known.

The simulations have the structure of the records: some splits are better for one method than
others, so are some subjects, and every image is a draw on top of that.
"""

import gc
from collections import Counter
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import t, ttest_1samp
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.weightstats import DescrStatsW

from slnp_study.statistics import (
    ALPHA,
    MARGIN,
    Difference,
    Estimate,
    Tally,
    corrected_resampled,
    difference,
    explained,
    findings,
    judge,
    over_data_sets,
    over_splits,
    pigeonhole,
    summarise,
    tallies,
    tally,
    verdicts,
)


@pytest.fixture(autouse=True, scope="module")
def what_is_imported_is_not_garbage():
    """Spare Holm's correction its time: statsmodels collects garbage whenever it is asked."""
    gc.freeze()
    yield
    gc.unfreeze()


SPLITS = 20
FACES, OBJECTS = 38, 100


def simulate(repetitions, clusters, *, points=0.0, split=0.5, cluster=2.0, cell=3.0, seed=0):
    """Repeated experiments with clusters of 50 images, the effects' spreads in points.

    Returns the counts, with the repetitions first, and the true difference for these clusters.
    """
    rng = np.random.default_rng(seed)
    of_cluster = cluster * rng.standard_normal((repetitions, 1, clusters))
    lead = points + of_cluster
    lead = lead + split * rng.standard_normal((repetitions, SPLITS, 1))
    lead = lead + cell * rng.standard_normal((repetitions, SPLITS, clusters))
    hard = rng.uniform(60, 80, (repetitions, 1, clusters))
    right = [rng.binomial(50, (hard + sign * lead / 2) / 100) for sign in (1, -1)]
    gain = (right[0] - right[1]).astype(float)
    return Tally(gain, np.full(gain.shape, 50.0)), points + of_cluster.mean(axis=(1, 2))


def simulate_digits(repetitions, images=300, *, points=0.0, spread=40.0, seed=0):
    """Repeated experiments in which an image is its own cluster, and nine in ten are tested."""
    rng = np.random.default_rng(seed)
    lead = points + rng.uniform(-spread, spread, (repetitions, 1, images))
    lead_here = lead + 0.5 * rng.standard_normal((repetitions, SPLITS, 1))
    hard = rng.uniform(40, 60, (repetitions, 1, images))
    shape = (repetitions, SPLITS, images)
    right = [rng.random(shape) < (hard + sign * lead_here / 2) / 100 for sign in (1, -1)]
    tested = rng.permuted(np.broadcast_to(np.arange(images) < 0.9 * images, shape), axis=-1)
    gain = tested * (right[0].astype(float) - right[1])
    return Tally(gain, tested.astype(float)), lead.mean(axis=(1, 2))


def within(estimate, truth):
    """How often the 95 % interval holds the truth."""
    return np.mean(np.abs(estimate.points - truth) <= estimate.interval)


def repetitions_of(counts):
    return (Tally(*pair) for pair in zip(*counts, strict=True))


WORLDS = {
    "faces": lambda: simulate(2000, FACES),
    "objects": lambda: simulate(2000, OBJECTS, split=0.3, cluster=4.0),
    "subjects all alike": lambda: simulate(2000, FACES, cluster=0.0),
    "nothing but chance": lambda: simulate(2000, FACES, split=0.0, cluster=0.0, cell=0.0),
    "digits": lambda: simulate_digits(1500),
}


@pytest.mark.parametrize("world", WORLDS)
def test_both_intervals_cover_as_they_say(world):
    counts, truth = WORLDS[world]()
    found = difference(counts)
    assert abs(within(found.these, truth) - 0.95) < 0.02
    assert abs(within(found.such, 0.0) - 0.95) < 0.02
    assert np.all(found.such.interval >= found.these.interval)
    assert np.isclose(np.mean(found.such.error**2), np.var(found.such.points), rtol=0.12)


def test_an_interval_over_splits_alone_is_too_short_for_such_images():
    found = difference(simulate(1000, FACES, cluster=4.0)[0])
    assert within(found.these, 0.0) < 0.75


def test_the_percentile_bootstrap_over_splits_and_clusters_is_too_wide():
    counts, _ = simulate(400, FACES)
    drawn = [pigeonhole(each, draws=500) for each in repetitions_of(counts)]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=1)
    assert np.mean((low <= 0) & (high >= 0)) > 0.97


def words(counts, family=50):
    """Judge repeated experiments, so many of them at a time as comparisons of one data set."""
    images, tested, these, such = difference(counts)
    all_of_them = [
        Difference(images[i], tested[i], *(Estimate(e.points[i], e.error[i], e.df) for e in both))
        for both in [(these, such)]
        for i in range(len(images))
    ]
    for start in range(0, len(all_of_them), family):
        yield judge(dict(enumerate(all_of_them[start : start + family]))).values()


def allowed(n):
    """5 % and three standard errors of a share of n."""
    return ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / n)


@pytest.mark.slow
@pytest.mark.parametrize(("scope", "cluster"), [("these", 0.0), ("such", 2.0), ("such", 0.0)])
def test_no_word_of_ahead_or_behind_in_95_of_100_data_sets_without_a_difference(scope, cluster):
    # Noise wide enough that "level" is rarely proved and cannot hide a false alarm.
    counts, _ = simulate(8000, FACES, split=4.0, cluster=cluster, cell=0.0)
    false, one_by_one, n = 0, 0, 0
    for family in words(counts, family=20):
        said = [getattr(verdict, scope) for verdict in family]
        assert {finding.word for finding in said} <= {"ahead", "behind", "level", "undecided"}
        false += any(finding.word in ("ahead", "behind") for finding in said)
        one_by_one += any(abs(finding.points) > finding.interval for finding in said)
        n += 1
    assert n == 400
    assert false / n <= allowed(n)
    assert false > 0
    assert one_by_one / n > 0.4  # what Holm prevents


@pytest.mark.parametrize("scope", ["these", "such"])
@pytest.mark.parametrize("points", [MARGIN, -MARGIN])
def test_level_is_said_in_5_of_100_cases_if_the_difference_is_the_margin(scope, points):
    cluster = {"these": 0.0, "such": 2.0}[scope]
    counts, _ = simulate(2000, FACES, points=points, cluster=cluster)
    said = [getattr(verdict, scope).word for family in words(counts) for verdict in family]
    assert 0.02 < said.count("level") / len(said) <= allowed(len(said))


def test_with_little_noise_the_words_are_found():
    for points, word in [(0.0, "level"), (2.0, "ahead"), (-2.0, "behind")]:
        counts, _ = simulate(100, OBJECTS, points=points, split=0.2, cluster=1.0, cell=0.0)
        (family,) = words(counts, family=100)
        said = Counter((verdict.these.word, verdict.such.word) for verdict in family)
        assert said[word, word] > 90


def test_tally_is_a_count():
    rng = np.random.default_rng(1)
    clusters = rng.integers(3, 9, size=(4, 40))
    clusters[0] = np.minimum(clusters[0], 7)  # the last one is not in every split
    first, second = rng.random((2, 4, 40)) < 0.6
    counts = tally(first, second, clusters)
    for s in range(4):
        for column, name in enumerate(range(3, 9)):
            own = [i for i in range(40) if clusters[s, i] == name]
            assert counts.tested[s, column] == len(own)
            assert counts.gain[s, column] == sum(int(first[s, i]) - int(second[s, i]) for i in own)
    with pytest.raises(ValueError, match="is longer than"):  # clusters of other splits
        tally(first, second, clusters[1:])


@pytest.mark.parametrize("seed", range(3))
def test_the_difference_for_these_images_is_a_paired_t_test_of_the_rates(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, SPLITS, 300)) < [[[0.8]], [[0.77]]]
    found = difference(tally(first, second, rng.integers(11, size=first.shape)))
    rates = 100 * (first.mean(axis=1) - second.mean(axis=1))
    test = ttest_1samp(rates, 0)
    assert np.isclose(found.these.points, rates.mean())
    assert np.isclose(found.these.p_zero, test.pvalue)
    low, high = test.confidence_interval()
    assert np.isclose(found.these.interval, (high - low) / 2)
    assert np.isclose(found.these.p_margin, DescrStatsW(rates).ttost_mean(-MARGIN, MARGIN)[0])
    assert np.isclose(found.images, np.mean(first.sum(axis=1) - second.sum(axis=1)))
    assert found.tested == 300
    alone = over_splits(100 * first.mean(axis=1), 100 * second.mean(axis=1))
    assert np.allclose(alone, found.these)


def test_the_difference_for_such_images_is_a_two_way_analysis_of_variance():
    counts = Tally(*(each[0] for each in simulate(1, FACES, seed=5)[0]))
    cells = pd.DataFrame(
        [
            {"split": s, "subject": c, "lead": 100 * counts.gain[s, c] / 50}
            for s in range(SPLITS)
            for c in range(FACES)
        ]
    )
    table = anova_lm(smf.ols("lead ~ C(split) + C(subject)", cells).fit())
    mean_square = table["sum_sq"] / table["df"]
    variance = mean_square["C(split)"] + mean_square["C(subject)"] - mean_square["Residual"]
    found = difference(counts).such
    assert mean_square["C(subject)"] > mean_square["Residual"]
    assert np.isclose(found.points, cells["lead"].mean())
    assert np.isclose(found.error**2, variance / (SPLITS * FACES))
    assert found.df == SPLITS - 1
    twice = difference(counts, counts)  # two columns: all but the subjects averages out
    halved = (mean_square["C(split)"] - mean_square["Residual"]) / 2 + mean_square["C(subject)"]
    assert np.isclose(twice.such.error**2, halved / (SPLITS * FACES))
    assert (twice.tested, twice.images) == pytest.approx((50 * FACES, counts.gain.sum() / SPLITS))
    wide = difference(Tally(counts.gain[:, :5], counts.tested[:, :5]))
    assert (wide.these.df, wide.such.df) == (SPLITS - 1, 4)


def test_the_bootstrap_counts_the_noise_three_times():
    counts = Tally(*(each[0] for each in simulate(1, OBJECTS, seed=2)[0]))
    lead = 2 * counts.gain  # points: every cell has 50 images
    S, C = lead.shape
    rest = lead - lead.mean(axis=0) - lead.mean(axis=1)[:, None] + lead.mean()
    owen = (  # the exact variance of resampling rows and columns of a table
        np.var(lead.mean(axis=1)) / S + np.var(lead.mean(axis=0)) / C + np.mean(rest**2) / (S * C)
    )
    drawn = pigeonhole(counts, draws=20_000, seed=3)
    assert np.isclose(drawn.var(), owen, rtol=0.05)
    assert np.isclose(drawn.mean(), lead.mean(), atol=0.02)
    excess = owen - difference(counts).such.error ** 2
    assert np.isclose(excess, 2 * np.mean(rest**2) / (S * C), rtol=0.2)


def test_resampling_can_be_repeated_and_keeps_what_is_the_same_everywhere():
    counts = Tally(*(each[0] for each in simulate(1, FACES)[0]))
    drawn = pigeonhole(counts, draws=50, seed=4)
    assert np.array_equal(drawn, pigeonhole(counts, draws=50, seed=4))
    assert not np.array_equal(drawn, pigeonhole(counts, draws=50, seed=5))
    everywhere = Tally(np.full((3, 4), 1.0), np.full((3, 4), 50.0))
    assert np.allclose(pigeonhole(everywhere, draws=7), 7 * [2.0])


def test_columns_of_one_data_set_share_their_subjects():
    """The mean of columns: what subjects have in common between columns does not average out."""
    rng = np.random.default_rng(0)
    repetitions, columns = 1500, 4
    subject = 3.0 * rng.standard_normal((repetitions, 1, FACES))
    tallies = []
    for _ in range(columns):
        lead = subject + 0.5 * rng.standard_normal((repetitions, SPLITS, 1))
        right = [
            rng.binomial(50, 0.7 + sign * lead / 200, (repetitions, SPLITS, FACES))
            for sign in (1, -1)
        ]
        tallies.append(Tally(right[0] - right[1], np.full((repetitions, SPLITS, FACES), 50)))
    found = difference(*tallies)
    assert abs(within(found.such, 0.0) - 0.95) < 0.02
    assert abs(within(found.these, subject.mean(axis=(1, 2))) - 0.95) < 0.02
    alone = [difference(each) for each in tallies]
    assert np.allclose(found.these.points, np.mean([each.these.points for each in alone], axis=0))
    independent = np.sqrt(np.sum([each.such.error**2 for each in alone], axis=0)) / columns
    assert np.mean(found.such.error) > 1.5 * np.mean(independent)
    assert found.these.df == columns * (SPLITS - 1)
    assert found.such.df == FACES - 1


def test_equal_answers_in_every_split_are_level():
    counts = Tally(np.zeros((SPLITS, FACES)), np.full((SPLITS, FACES), 50.0))
    verdict = judge({"itself": difference(counts)})["itself"]
    assert verdict.these == verdict.such
    assert verdict.these[:4] == ("level", 0.0, 0.0, 1.0)
    assert verdict.these.phrase == "level"
    one_more = Tally(counts.gain + 1, counts.tested)
    assert judge({"": difference(one_more)})[""].such[:3] == ("ahead", 2.0, 0.0)


def word_of(points, error, n_others=0):
    """The word for an estimate that stands beside others without any difference."""
    family = [Estimate(points, error, 19)] + n_others * [Estimate(0.0, 1.0, 19)]
    return findings(family)[0]


def test_every_word_has_its_condition():
    one_sided, two_sided = t.ppf(0.95, 19), t.ppf(0.975, 19)
    assert word_of(0.5, 0.5 / one_sided + 0.001).word == "undecided"
    assert word_of(0.5, 0.5 / one_sided - 0.001).word == "level"
    assert word_of(3.0, 3.0 / two_sided - 0.001).word == "ahead"
    assert word_of(-3.0, 3.0 / two_sided - 0.001).word == "behind"
    assert word_of(3.0, 3.0 / two_sided + 0.001).word == "undecided"
    holm = 3.0 / t.ppf(1 - 0.025 / 10, 19)
    assert word_of(3.0, holm - 0.001, n_others=9).word == "ahead"
    assert word_of(3.0, holm + 0.001, n_others=9).word == "undecided"


def test_holm_steps_down_from_the_smallest_p():
    """Four p, each times how many are not smaller, and never below the one before."""
    p = [0.02, 0.9, 0.001, 0.021]
    estimates = [Estimate(t.isf(each / 2, 19), 1.0, 19) for each in p]
    found = findings(estimates)
    assert np.allclose([each.p_zero for each in found], [0.06, 0.9, 0.004, 0.06])
    assert [each.p_margin for each in found] == [each.p_margin for each in estimates]  # as it was


def test_the_margin_goes_first():
    assert word_of(0.4, 0.1).word == "level"
    assert word_of(0.4, 0.1).phrase == "level (higher by 0.40)"
    assert word_of(-0.4, 0.1).phrase == "level (lower by 0.40)"
    assert word_of(0.1, 0.1).phrase == "level"
    assert word_of(0.9, 0.1).phrase == "ahead"  # not zero, and not shown to be below a point
    assert word_of(0.4, 0.15).phrase == "level (higher by 0.40)"
    assert word_of(0.4, 0.15, n_others=9).phrase == "level"  # not after Holm


def test_these_and_such_images_are_judged_apart():
    verdict = judge({"": Difference(30, 2000, Estimate(1.5, 0.1, 19), Estimate(1.5, 1.0, 19))})[""]
    assert (verdict.these.word, verdict.such.word) == ("ahead", "undecided")
    assert (verdict.images, verdict.tested) == (30, 2000)
    assert np.isclose(verdict.such.interval, 10 * verdict.these.interval)


class Split:
    """What a record tells of a split: 300 of 400 images of 20 classes, three methods."""

    methods = ("PCA", "SLNP", "LFDA")
    share: ClassVar = {
        "whitened": {"PCA": 0.7, "LFDA": 0.8, "SLNP": 0.9},
        "orthonormal": {"PCA": 0.85, "LFDA": 0.75, "SLNP": 0.8},
        "own": {"PCA": 0.1, "LFDA": 0.2, "SLNP": 0.9},
    }

    def __init__(self, rng):
        self.rows = np.sort(rng.permutation(400)[:300])
        self.labels = self.rows // 20
        self.right = {
            (method, basis): rng.random(300) < self.share[basis][method]
            for basis in self.share
            for method in self.methods
        }

    def of(self, method, basis):
        return self.right[method, basis]


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    return {N_i: [Split(rng) for _ in range(8)] for N_i in (5, 10)}


def test_verdicts_compare_in_one_basis_and_in_one_family(columns):
    found = verdicts(columns, "class")
    bases = ("whitened", "orthonormal")
    assert set(found) == {(N, m, b) for N in (5, 10) for m in ("PCA", "LFDA") for b in bases}
    alone = []
    for (N_i, other, basis), verdict in found.items():
        lead = [
            100 * (split.of("SLNP", basis).mean() - split.of(other, basis).mean())
            for split in columns[N_i]
        ]
        assert np.isclose(verdict.these.points, np.mean(lead))
        alone.append(ttest_1samp(lead, 0).pvalue)
    assert found[5, "PCA", "whitened"].these.word == "ahead"
    assert found[5, "PCA", "orthonormal"].these.points < 0
    assert np.isclose(min(v.these.p_zero for v in found.values()), min(alone) * len(found))
    for cluster in ("class", "image"):
        counts = tallies(columns, cluster)[10, "LFDA", "whitened"]
        such = verdicts(columns, cluster)[10, "LFDA", "whitened"].such
        assert such.interval == pytest.approx(difference(counts).such.interval)
    against = verdicts(columns, "class", first="PCA")
    assert against[5, "SLNP", "whitened"].such.word == "behind"


def test_clusters_are_classes_or_single_images(columns):
    of_classes = tallies(columns, "class")[10, "LFDA", "whitened"]
    of_images = tallies(columns, "image")[10, "LFDA", "whitened"]
    assert of_classes.gain.shape == (8, 20)
    assert of_images.gain.shape == (8, 400)
    assert set(of_images.tested.ravel()) == {0, 1}
    assert np.array_equal(of_images.gain.reshape(8, 20, 20).sum(axis=2), of_classes.gain)
    assert np.array_equal(of_images.tested.reshape(8, 20, 20).sum(axis=2), of_classes.tested)
    split = columns[10][3]
    lead = split.of("SLNP", "whitened").astype(int) - split.of("LFDA", "whitened")
    assert np.array_equal(of_images.gain[3, split.rows], lead)


def test_the_model_over_data_sets_is_the_mixed_model():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        [
            {"set": name, "lead": effect + rng.normal(scale=0.5)}
            for name, effect in [("faces", -2.0), ("objects", 1.0), ("digits", 3.0)]
            for _ in range(6)
        ]
    )
    fit = smf.mixedlm("lead ~ 1", frame, groups="set").fit(reml=True)
    sets = {
        name: Difference(0, 0, Estimate(group.mean(), 0.0, 9), Estimate(0.0, 0.0, 9))
        for name, group in frame.groupby("set")["lead"]
    }
    found = over_data_sets(sets)
    assert np.isclose(found.points, fit.params["Intercept"])
    assert np.isclose(found.error, fit.bse["Intercept"], rtol=1e-3)
    assert found.df == 2


def test_nadeau_and_bengio_would_leave_nothing_standing():
    counts, _ = simulate(1000, FACES, points=3.0, cluster=0.0)
    leads = 100 * counts.gain.sum(axis=2) / (50 * FACES)
    found = [corrected_resampled(each, n_train=5 * FACES, n_test=50 * FACES) for each in leads]
    plain = [summarise(each) for each in leads]
    ratio = [a.interval / b.interval for a, b in zip(found, plain, strict=True)]
    assert np.allclose(ratio, np.sqrt(1 + 20 * 10))
    assert np.allclose([a.points - b.mean for a, b in zip(found, plain, strict=True)], 0)
    assert np.mean([each.p_zero < ALPHA for each in found]) < 0.02
    assert np.mean([each.mean > each.interval for each in plain]) > 0.99


def test_summarise_gives_the_interval_of_the_mean_and_that_of_one_more_split():
    rng = np.random.default_rng(0)
    rates = rng.normal(80, 2, (4000, 6))
    further = rng.normal(80, 2, 4000)
    found = [summarise(row) for row in rates]
    mean, interval, one_split = np.array(found).T
    assert abs(np.mean(np.abs(mean - 80) <= interval) - 0.95) < 0.012
    assert abs(np.mean(np.abs(mean - further) <= one_split) - 0.95) < 0.012
    inside = [explained(rate, row) for rate, row in zip(further, rates, strict=True)]
    assert np.mean(inside) == np.mean(np.abs(mean - further) <= one_split)
    assert explained(80.0, [80.0, 80.0])
    assert not explained(80.1, [80.0, 80.0])
