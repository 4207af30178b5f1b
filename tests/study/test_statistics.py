"""From outcomes to words: against other formulas, and on simulated data whose truth is known.

The simulations have the structure of the records: some splits are better for one method than
others, so are some subjects, and every image is a draw on top of that.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp

from slnp_study.statistics import (
    ALPHA,
    MARGIN,
    SMALLER,
    WORDS,
    Difference,
    Estimate,
    Outcomes,
    Tally,
    corrected_resampled,
    difference,
    explained,
    findings,
    holm,
    judge,
    over_splits,
    reach,
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
    gain, tested = (right[0] - right[1]).astype(float), np.full(right[0].shape, 50.0)
    return Tally(gain, tested, tested - right[1]), points + effects.mean(axis=(1, 2))


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
    return Tally(gain, tested.astype(float), tested * ~right[1]), lead.mean(axis=(1, 2))


def within(estimate, truth):
    """How often the 95 % interval holds the truth."""
    return np.mean(np.abs(estimate.points - truth) <= estimate.interval)


def words(counts, family):
    """Judge repeated experiments, so many of them at a time as comparisons of one family."""
    *size, these, new = difference(counts)
    found = [
        Difference(*alone, *(Estimate(e.points[i], e.error[i], e.df) for e in (these, new)))
        for i, alone in enumerate(zip(*size, strict=True))
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
    assert abs(within(found.new, 0.0) - 0.95) < 0.02
    assert np.isclose(np.mean(found.new.error**2), np.var(found.new.points), rtol=0.12)
    if world in ("objects", "digits"):  # clusters that differ: splits alone can't speak of others
        assert within(found.these, 0.0) < 0.75


def test_columns_of_one_data_set_share_their_subjects():
    """What subjects have in common between columns doesn't average out, and the errors know it."""
    subjects = 3.0 * np.random.default_rng(0).standard_normal((1500, 1, FACES))
    columns = [simulate(1500, FACES, cluster=subjects, seed=seed)[0] for seed in range(1, 5)]
    found = difference(*columns)
    alone = [difference(each) for each in columns]
    assert np.allclose(found.these.points, np.mean([a.these.points for a in alone], axis=0))
    assert np.allclose(found.images, np.mean([a.images for a in alone], axis=0))
    assert np.allclose(found.errors, np.mean([a.errors for a in alone], axis=0))
    assert abs(within(found.these, subjects.mean(axis=(1, 2))) - 0.95) < 0.02
    assert abs(within(found.new, 0.0) - 0.95) < 0.02
    independent = np.sqrt(np.sum([a.new.error**2 for a in alone], axis=0)) / len(alone)
    assert np.mean(found.new.error) > 1.5 * np.mean(independent)
    assert (found.these.df, found.new.df) == (4 * (SPLITS - 1), FACES - 1)


#: A truth, and the words that are wrong if it is so.
WRONG = {
    0.0: {word for word in WORDS if word[0] in "ab"},
    MARGIN: {"level", f"ahead{SMALLER}", f"behind{SMALLER}"},
    -MARGIN: {"level", f"ahead{SMALLER}", f"behind{SMALLER}"},
}


@pytest.mark.slow
@pytest.mark.parametrize("points", WRONG)
@pytest.mark.parametrize(("scope", "cluster"), [("these", 0.0), ("new", 2.0), ("new", 0.0)])
def test_95_of_100_whole_tables_have_no_wrong_word(points, scope, cluster):
    counts, _ = simulate(8000, FACES, points=points, cluster=cluster, cell=0.0)
    said = [[getattr(v, scope) for v in table] for table in words(counts, family=20)]
    wrong = np.mean([any(f.word in WRONG[points] for f in table) for table in said])
    assert wrong <= ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / len(said))
    if not (cluster and points):  # there no interval is narrow enough to be within the margin
        assert wrong > 0.01
    if not points:
        assert np.mean([any(abs(f.points) > f.interval for f in table) for table in said]) > 0.4


def test_summarise_gives_the_interval_of_the_mean_and_that_of_one_more_split():
    rng = np.random.default_rng(0)
    rates, further = rng.normal(80, 2, (4000, 6)), rng.normal(80, 2, 4000)
    mean, interval, one_split = np.array([summarise(row) for row in rates]).T
    assert abs(np.mean(np.abs(mean - 80) <= interval) - 0.95) < 0.012
    inside = [explained(rate, row) for rate, row in zip(further, rates, strict=True)]
    assert abs(np.mean(inside) - 0.95) < 0.012
    assert np.array_equal(inside, np.abs(mean - further) <= one_split)


@pytest.mark.parametrize("m", [1, 2, 5, 10, 20])
def test_95_of_100_means_of_m_further_splits_are_explained(m):
    rng = np.random.default_rng(m)
    rates, further = rng.normal(80, 2, (4000, 20)), rng.normal(80, 2, (4000, m)).mean(axis=1)
    inside = [explained(mean, row, m) for mean, row in zip(further, rates, strict=True)]
    assert abs(np.mean(inside) - 0.95) < 0.012
    assert reach(rates[0], m) < reach(rates[0], m - 0.5)


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
    counts = tally(first, second, rng.integers(11, size=first.shape))
    found = difference(counts)
    rates = 100 * (first.mean(axis=1) - second.mean(axis=1))
    test = ttest_1samp(rates, 0)
    low, high = test.confidence_interval()
    sides = [(-MARGIN, "greater"), (MARGIN, "less")]  # the two one-sided tests
    p_margin = max(ttest_1samp(rates, edge, alternative=side).pvalue for edge, side in sides)
    for each in (found.these, over_splits(100 * first.mean(axis=1), 100 * second.mean(axis=1))):
        assert np.isclose(each.points, rates.mean())
        assert np.allclose([each.points - each.interval, each.points + each.interval], [low, high])
        assert np.isclose(each.p_zero, test.pvalue)
        assert np.isclose(each.p_margin(), p_margin)
    assert np.isclose(found.images, np.mean(first.sum(axis=1) - second.sum(axis=1)))
    assert found.tested == 300
    wrong = 100 * np.mean([~first, ~second], axis=(1, 2))
    assert np.isclose(found.errors, wrong[1])
    assert np.isclose(found.tenth, wrong.mean() / 10)
    assert np.isclose(judge({"": found})[""].fewer, 100 * (1 - wrong[0] / wrong[1]))
    alone = difference(Tally(*(each.sum(axis=1, keepdims=True) for each in counts)))
    assert alone.new is judge({"": alone})[""].new is None  # nothing is known of the clusters
    assert np.allclose([*alone[:3], *alone.these], [*found[:3], *found.these])


def test_the_difference_for_new_images_is_a_two_way_analysis_of_variance():
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
    found = difference(counts).new
    assert np.isclose(found.points, lead.mean())
    assert np.isclose(found.error**2, (of_splits + of_subjects - noise) / len(lead))
    assert found.df == SPLITS - 1
    twice = difference(counts, counts).new  # two columns: all but the subjects averages out
    assert np.isclose(twice.error**2, ((of_splits - noise) / 2 + of_subjects) / len(lead))
    few = difference(Tally(*(each[:, :5] for each in counts)))
    assert (few.these.df, few.new.df) == (SPLITS - 1, 4)


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


# Words


def word_of(points, error, n_others=0, margin=MARGIN):
    """The word for an estimate beside others of which nothing can be said."""
    family = [Estimate(points, error, 19)] + n_others * [Estimate(0.0, 100.0, 19)]
    return findings(family, margin)[0].word


@pytest.mark.parametrize("n_others", [0, 9])
def test_every_word_has_its_condition(n_others):
    """One-sided for the margin, two-sided for zero, both after Holm's correction."""
    of_margin, of_zero = (t.ppf(1 - level / (1 + n_others), 19) for level in (0.05, 0.025))
    assert word_of(0.1, 0.9 / of_margin + 0.001, n_others) == "undecided"
    assert word_of(0.1, 0.9 / of_margin - 0.001, n_others) == "level"
    assert word_of(3.0, 3.0 / of_zero + 0.001, n_others) == "undecided"
    assert word_of(3.0, 3.0 / of_zero - 0.001, n_others) == "ahead"
    assert word_of(-3.0, 3.0 / of_zero - 0.001, n_others) == "behind"
    assert word_of(0.9, 0.1 / of_margin + 0.001, n_others) == "ahead"
    assert word_of(0.9, 0.1 / of_margin - 0.001, n_others) == "ahead by less than the margin"
    assert word_of(-0.9, 0.1 / of_margin - 0.001, n_others) == "behind by less than the margin"
    assert word_of(0.9, 0.1 / of_margin - 0.001, n_others, margin=0.5) == "ahead"


POINTS, ERRORS = st.floats(-4, 4), st.floats(1e-6, 4)


@given(st.lists(st.tuples(POINTS, ERRORS, st.floats(0.01, 1), st.floats(0.1, 3)), min_size=1))
def test_narrower_intervals_never_give_a_weaker_word(family):
    points, errors, factors, margins = np.transpose(family)
    wide, narrow = (
        findings([Estimate(*each, 19) for each in zip(points, of, strict=True)], margins)
        for of in (errors, errors * factors)
    )
    for before, after in zip(wide, narrow, strict=True):
        assert facts(before.word) <= facts(after.word)


def facts(word):
    """What a word says: on which side of zero, and whether within the margin."""
    side = {word.split()[0]} & {"ahead", "behind"}
    return side | ({"within"} if word == "level" or "less" in word else set())


def test_margins_can_be_one_for_each_comparison():
    lead = Estimate(0.9, 0.01, 19)
    found = {name: Difference(9, 1000, 20, lead, None) for name in ("wide", "narrow")}
    said = judge(found, {"wide": 1.0, "narrow": 0.5})
    assert [said[name].these.word for name in found] == ["ahead by less than the margin", "ahead"]


def test_equal_answers_in_every_split_are_level():
    tested = np.full((SPLITS, FACES), 50.0)
    counts = Tally(np.zeros(tested.shape), tested, tested / 5)
    verdict = judge({"itself": difference(counts)})["itself"]
    assert verdict.these == verdict.new
    assert verdict.these[:4] == ("level", 0.0, 0.0, 1.0)
    one_more = counts._replace(gain=counts.gain + 1)
    assert judge({"": difference(one_more)})[""].new[:3] == ("ahead", 2.0, 0.0)


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
    verdicts = judge({key: difference(each) for key, each in found.items()})
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
    assert {verdicts[N_i, "PCA", "whitened"].new.word for N_i in (5, 10)} == {"ahead"}
    assert max(leads[N_i, "PCA", "orthonormal"].mean() for N_i in (5, 10)) < 0
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
