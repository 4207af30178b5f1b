"""From outcomes to words: against other formulas, and on simulated data whose truth is known.

The simulations have the structure of the records: some splits are better for one method than
others, so are some subjects, and every image is a draw on top of that.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import t, ttest_1samp

from slnp_study.statistics import (
    ALPHA,
    MARGIN,
    Difference,
    Estimate,
    Outcomes,
    Tally,
    Verdicts,
    corrected_resampled,
    difference,
    explained,
    findings,
    holm,
    judge,
    mean_of_columns,
    over_data_sets,
    over_splits,
    summarise,
    tallies,
    tally,
)

SPLITS = 20
FACES, OBJECTS = 38, 100


def simulate(repetitions, clusters, *, points=0.0, split=0.5, cluster=2.0, cell=3.0, seed=0):
    """Repeated experiments with clusters of 50 images, the effects' spreads in points.

    ``cluster`` may also be the effects themselves. Returns the counts, with the repetitions first,
    and the true difference for these clusters.
    """
    rng = np.random.default_rng(seed)
    effects = cluster
    if np.isscalar(cluster):
        effects = cluster * rng.standard_normal((repetitions, 1, clusters))
    lead = points + effects
    lead = lead + split * rng.standard_normal((repetitions, SPLITS, 1))
    lead = lead + cell * rng.standard_normal((repetitions, SPLITS, clusters))
    hard = rng.uniform(60, 80, (repetitions, 1, clusters))
    right = [rng.binomial(50, (hard + sign * lead / 2) / 100) for sign in (1, -1)]
    gain = (right[0] - right[1]).astype(float)
    return Tally(gain, np.full(gain.shape, 50.0)), points + effects.mean(axis=(1, 2))


def simulate_digits(repetitions, images=300, spread=40.0):
    """Repeated experiments in which an image is its own cluster, and nine in ten are tested."""
    rng = np.random.default_rng(0)
    lead = rng.uniform(-spread, spread, (repetitions, 1, images))
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


def words(counts, family):
    """Judge repeated experiments, so many of them at a time as comparisons of one data set."""
    images, tested, *both = difference(counts)
    found = [
        Difference(images[i], tested[i], *(Estimate(e.points[i], e.error[i], e.df) for e in both))
        for i in range(len(images))
    ]
    for start in range(0, len(found), family):
        yield judge(dict(enumerate(found[start : start + family]))).values()


# Coverage and error rates


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
    assert np.isclose(np.mean(found.such.error**2), np.var(found.such.points), rtol=0.12)
    if world in ("objects", "digits"):  # clusters that differ: splits alone can't speak of others
        assert within(found.these, 0.0) < 0.75


def test_columns_of_one_data_set_share_their_subjects():
    """What subjects have in common between columns doesn't average out, and the errors know it.

    Without the images nobody can tell how much it is, so `mean_of_columns` takes all of it.
    """
    subjects = 3.0 * np.random.default_rng(0).standard_normal((1500, 1, FACES))
    columns = [simulate(1500, FACES, cluster=subjects, seed=seed)[0] for seed in range(1, 5)]
    found = difference(*columns)
    alone = [difference(each) for each in columns]
    without_images = mean_of_columns(alone)
    for each in (found, without_images):
        assert np.allclose(each.these.points, np.mean([a.these.points for a in alone], axis=0))
        assert np.allclose(each.images, np.mean([a.images for a in alone], axis=0))
        assert abs(within(each.these, subjects.mean(axis=(1, 2))) - 0.95) < 0.02
    assert abs(within(found.such, 0.0) - 0.95) < 0.02
    assert 0.95 < within(without_images.such, 0.0) < 0.995
    independent = np.sqrt(np.sum([a.such.error**2 for a in alone], axis=0)) / len(alone)
    assert np.mean(found.such.error) > 1.5 * np.mean(independent)
    assert (found.these.df, found.such.df) == (4 * (SPLITS - 1), FACES - 1)
    assert np.allclose(without_images.these.error, found.these.error)
    assert without_images.these.df == found.these.df


@pytest.mark.slow
@pytest.mark.parametrize(("scope", "cluster"), [("these", 0.0), ("such", 2.0), ("such", 0.0)])
def test_no_word_of_ahead_or_behind_in_95_of_100_data_sets_without_a_difference(scope, cluster):
    """With noise so wide that "level" is rarely proved and can't hide a false alarm."""
    counts, _ = simulate(8000, FACES, split=4.0, cluster=cluster, cell=0.0)
    said = [[getattr(v, scope) for v in family] for family in words(counts, family=20)]
    false = [any(f.word in ("ahead", "behind") for f in family) for family in said]
    one_by_one = [any(abs(f.points) > f.interval for f in family) for family in said]
    assert 0 < np.mean(false) <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / 400)
    assert np.mean(one_by_one) > 0.4  # what Holm prevents


@pytest.mark.parametrize("scope", ["these", "such"])
@pytest.mark.parametrize("points", [MARGIN, -MARGIN])
def test_level_is_said_in_5_of_100_cases_if_the_difference_is_the_margin(scope, points):
    cluster = {"these": 0.0, "such": 2.0}[scope]
    counts, _ = simulate(2000, FACES, points=points, cluster=cluster)
    said = [getattr(verdict, scope).word for family in words(counts, 50) for verdict in family]
    share = said.count("level") / len(said)
    assert 0.02 < share <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / len(said))


def test_summarise_gives_the_interval_of_the_mean_and_that_of_one_more_split():
    rng = np.random.default_rng(0)
    rates, further = rng.normal(80, 2, (4000, 6)), rng.normal(80, 2, 4000)
    mean, interval, one_split = np.array([summarise(row) for row in rates]).T
    assert abs(np.mean(np.abs(mean - 80) <= interval) - 0.95) < 0.012
    inside = [explained(rate, row) for rate, row in zip(further, rates, strict=True)]
    assert abs(np.mean(inside) - 0.95) < 0.012
    assert np.array_equal(inside, np.abs(mean - further) <= one_split)


def test_nadeau_and_bengio_would_leave_nothing_standing():
    """Their variance is that of splits whose differences correlate by n_test / (all)."""
    leads = 3 + np.random.default_rng(0).normal(size=(1000, SPLITS))
    found = [corrected_resampled(each, n_train=5, n_test=50) for each in leads]
    variance, shared = leads.var(axis=1, ddof=1), 50 / 55
    of_a_mean = variance / (1 - shared) * (1 + (SPLITS - 1) * shared) / SPLITS
    assert np.allclose([each.error**2 for each in found], of_a_mean)
    assert np.mean([each.p_zero < ALPHA for each in found]) < 0.02
    assert all(ttest_1samp(each, 0).pvalue < ALPHA for each in leads)


# Other formulas


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


@pytest.mark.parametrize("seed", range(3))
def test_the_difference_for_these_images_is_a_paired_t_test_of_the_rates(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, SPLITS, 300)) < [[[0.8]], [[0.77]]]
    found = difference(tally(first, second, rng.integers(11, size=first.shape)))
    rates = 100 * (first.mean(axis=1) - second.mean(axis=1))
    test = ttest_1samp(rates, 0)
    low, high = test.confidence_interval()
    sides = [(-MARGIN, "greater"), (MARGIN, "less")]  # the two one-sided tests
    p_margin = max(ttest_1samp(rates, edge, alternative=side).pvalue for edge, side in sides)
    for each in (found.these, over_splits(100 * first.mean(axis=1), 100 * second.mean(axis=1))):
        assert np.isclose(each.points, rates.mean())
        assert np.allclose([each.points - each.interval, each.points + each.interval], [low, high])
        assert np.isclose(each.p_zero, test.pvalue)
        assert np.isclose(each.p_margin, p_margin)
    assert np.isclose(found.images, np.mean(first.sum(axis=1) - second.sum(axis=1)))
    assert found.tested == 300


def test_the_difference_for_such_images_is_a_two_way_analysis_of_variance():
    """By least squares on indicators of the split and the subject."""
    counts = Tally(*(each[0] for each in simulate(1, FACES, seed=5)[0]))
    lead = (100 * counts.gain / 50).ravel()
    split, subject = np.indices(counts.gain.shape).reshape(2, -1)
    indicators = {"split": np.eye(SPLITS)[split], "subject": np.eye(FACES)[subject]}

    def unexplained(*factors):
        model = np.hstack([np.ones((len(lead), 1)), *(indicators[f] for f in factors)])
        return np.sum((lead - model @ np.linalg.lstsq(model, lead)[0]) ** 2)

    rest = unexplained("split", "subject")
    of_splits = (unexplained("subject") - rest) / (SPLITS - 1)
    of_subjects = (unexplained("split") - rest) / (FACES - 1)
    noise = rest / ((SPLITS - 1) * (FACES - 1))
    assert of_subjects > noise
    found = difference(counts).such
    assert np.isclose(found.points, lead.mean())
    assert np.isclose(found.error**2, (of_splits + of_subjects - noise) / len(lead))
    assert found.df == SPLITS - 1
    twice = difference(counts, counts).such  # two columns: all but the subjects averages out
    assert np.isclose(twice.error**2, ((of_splits - noise) / 2 + of_subjects) / len(lead))
    few = difference(Tally(counts.gain[:, :5], counts.tested[:, :5]))
    assert (few.these.df, few.such.df) == (SPLITS - 1, 4)


def closed_testing(p):
    """Reject i if Bonferroni rejects every set of hypotheses that i is in."""
    raised = np.zeros(len(p))
    for size in range(1, len(p) + 1):
        for members in map(list, combinations(range(len(p)), size)):
            raised[members] = np.maximum(raised[members], min(1, size * p[members].min()))
    return raised


def test_holm_is_closed_testing_with_bonferroni():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 9):
        for scale in (0.02, 0.2, 1):  # some at the limit 1, some far from it
            p = scale * rng.random(n)
            assert np.allclose(holm(p), closed_testing(p))
            p = rng.choice(p, n)  # with ties
            assert np.allclose(holm(p), closed_testing(p))


def test_the_model_over_data_sets_is_the_mixed_model():
    """A random intercept for each set, by maximising the restricted likelihood."""
    rng = np.random.default_rng(4)
    leads = np.array([[-2.0], [1.0], [3.0]]) + rng.normal(scale=0.5, size=(3, 6))
    y, x, same = leads.ravel(), np.ones(18), np.kron(np.eye(3), np.ones((6, 6)))

    def fit(log_variances):
        inside, between = np.exp(log_variances)
        V = inside * np.eye(18) + between * same
        weights = np.linalg.solve(V, x)
        mean = weights @ y / weights.sum()
        misfit = (y - mean) @ np.linalg.solve(V, y - mean)
        return np.linalg.slogdet(V)[1] + np.log(weights.sum()) + misfit, mean, weights.sum() ** -0.5

    best = minimize(lambda v: fit(v)[0], [0, 0], method="Nelder-Mead", options={"xatol": 1e-8})
    found = over_data_sets(dict(zip("abc", leads.mean(axis=1), strict=True)))
    assert np.allclose(found[:2], fit(best.x)[1:], rtol=1e-4)
    assert found.df == 2


# Words


def word_of(points, error, n_others=0):
    """The word for an estimate beside others without any difference."""
    family = [Estimate(points, error, 19)] + n_others * [Estimate(0.0, 1.0, 19)]
    return findings(family)[0]


def test_every_word_has_its_condition_and_the_margin_goes_first():
    one_sided, two_sided = t.ppf(0.95, 19), t.ppf(0.975, 19)
    assert word_of(0.5, 0.5 / one_sided + 0.001).word == "undecided"
    assert word_of(0.5, 0.5 / one_sided - 0.001).word == "level"
    assert word_of(3.0, 3.0 / two_sided - 0.001).word == "ahead"
    assert word_of(-3.0, 3.0 / two_sided - 0.001).word == "behind"
    assert word_of(3.0, 3.0 / two_sided + 0.001).word == "undecided"
    after_holm = 3.0 / t.ppf(1 - 0.025 / 10, 19)
    assert word_of(3.0, after_holm - 0.001, n_others=9).word == "ahead"
    assert word_of(3.0, after_holm + 0.001, n_others=9).word == "undecided"
    assert word_of(0.9, 0.1).word == "ahead"  # not zero, and not shown to be below a point
    for points, phrase in ((0.4, "level (higher by 0.40)"), (-0.4, "level (lower by 0.40)")):
        assert word_of(points, 0.1).phrase == phrase
    assert word_of(0.1, 0.1).phrase == "level"  # which of the two is higher isn't clear


def test_equal_answers_in_every_split_are_level():
    counts = Tally(np.zeros((SPLITS, FACES)), np.full((SPLITS, FACES), 50.0))
    verdict = judge({"itself": difference(counts)})["itself"]
    assert verdict.these == verdict.such
    assert verdict.these[:4] == ("level", 0.0, 0.0, 1.0)
    one_more = Tally(counts.gain + 1, counts.tested)
    assert judge({"": difference(one_more)})[""].such[:3] == ("ahead", 2.0, 0.0)


@pytest.fixture(scope="module")
def columns():
    """Two columns of eight splits: 300 of 400 images of 20 classes, three methods."""
    rng = np.random.default_rng(0)
    methods, bases = ("PCA", "SLNP", "LFDA"), ("orthonormal", "own", "whitened")
    share = np.array([[0.85, 0.1, 0.7], [0.8, 0.9, 0.9], [0.75, 0.2, 0.8]])

    def split():
        rows = np.sort(rng.permutation(400)[:300])
        right = rng.random((3, 3, 300)) < share[..., None]
        return Outcomes(right, methods, bases, rows, rows // 20)

    return {N_i: [split() for _ in range(8)] for N_i in (5, 10)}


def test_slnp_is_compared_with_every_other_method_in_the_same_basis(columns):
    found = tallies(columns, "class")
    bases = ("whitened", "orthonormal")
    assert set(found) == {(N, m, b) for N in (5, 10) for m in ("PCA", "LFDA") for b in bases}
    verdicts = Verdicts(judge({key: difference(each) for key, each in found.items()}))
    leads = {
        (N_i, other, basis): np.array(
            [
                100 * (split.of("SLNP", basis).mean() - split.of(other, basis).mean())
                for split in columns[N_i]
            ]
        )
        for N_i, other, basis in found
    }
    p = closed_testing(np.array([ttest_1samp(lead, 0).pvalue for lead in leads.values()]))
    for (key, lead), p_zero in zip(leads.items(), p, strict=True):
        assert np.isclose(verdicts[key].these.points, lead.mean())
        assert np.isclose(verdicts[key].these.p_zero, p_zero)
    assert verdicts.words("PCA", "whitened", "such") == ["ahead", "ahead"]
    mean = [leads[N_i, "PCA", "orthonormal"].mean() for N_i in (5, 10)]
    assert max(mean) < 0
    assert np.allclose(verdicts.points("PCA", "orthonormal"), mean)
    against = difference(tallies(columns, "class", first="PCA")[5, "SLNP", "whitened"])
    assert np.isclose(against.these.points, -verdicts[5, "PCA", "whitened"].these.points)


def test_clusters_are_classes_or_single_images(columns):
    of_classes = tallies(columns, "class")[10, "LFDA", "whitened"]
    of_images = tallies(columns, "image")[10, "LFDA", "whitened"]
    assert of_images.gain.shape == (8, 400)
    assert set(of_images.tested.ravel()) == {0, 1}
    for found, summed in zip(of_classes, of_images, strict=True):
        assert np.array_equal(summed.reshape(8, 20, 20).sum(axis=2), found)
    split = columns[10][3]
    lead = split.of("SLNP", "whitened").astype(int) - split.of("LFDA", "whitened")
    assert np.array_equal(of_images.gain[3, split.rows], lead)
