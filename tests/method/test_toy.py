"""The toy of Fig. 1 and the fish of the book's running story."""

import math

import numpy as np
import pytest

from slnp_edu.toy import make_fish, make_toy


def test_toy_points_are_those_of_figure_1():
    bunch = make_toy()
    a, b, c = bunch.data
    assert np.linalg.norm(a - b) < np.linalg.norm(a - c)
    assert abs(a[1] - c[1]) < abs(a[1] - b[1])
    assert bunch.target.tolist() == [0, 1, 0]
    assert bunch.feature_names == ["lightness", "length"]
    assert bunch.point_names.tolist() == ["a", "b", "c"]


def test_toy_classes():
    X, y = make_toy("classes", n_samples=2000, noise=7, random_state=3, return_X_y=True)
    assert X.shape == (2000, 2)
    assert np.bincount(y).tolist() == [1000, 1000]
    assert X[:, 0].std() == pytest.approx(7, rel=0.06)
    assert abs(X[y == 0, 0].mean() - X[y == 1, 0].mean()) < 1  # lightness tells nothing
    for label, mean in ((0, -1), (1, 1)):  # length tells the class
        assert X[y == label, 1].mean() == pytest.approx(mean, abs=0.05)
        assert X[y == label, 1].std() == pytest.approx(0.4, rel=0.1)
    again = make_toy("classes", n_samples=2000, noise=7, random_state=3)
    np.testing.assert_array_equal(again.data, X)
    assert not np.array_equal(make_toy("classes", n_samples=2000, random_state=4).data, X)
    with pytest.raises(ValueError, match=r"^kind must be points or classes"):
        make_toy("moons")


def test_fish_have_the_clumps_and_the_flicker_they_promise():
    X, y = make_fish(100_000, flicker=4.0, n_flickers=3, young=0.6, random_state=1)
    assert X.shape == (100_000, 4)
    assert y.mean() == 0.5
    lightness, length = X[:, :-1], X[:, -1]
    np.testing.assert_allclose(lightness.std(axis=0), 4.0, rtol=0.02)
    np.testing.assert_allclose([lightness[y == kind].mean() for kind in (0, 1)], 0, atol=0.05)
    assert np.mean(length[y == 0] < 0) == pytest.approx(0.6, abs=0.001)
    clumps = [length[y == 1], length[(y == 0) & (length < 0)], length[(y == 0) & (length > 0)]]
    np.testing.assert_allclose([c.mean() for c in clumps], [0, -2.5, 2.5], atol=0.02)
    np.testing.assert_allclose([c.std() for c in clumps], 0.5, rtol=0.02)


@pytest.mark.parametrize("young", [0.0, 0.25, 0.5, 0.7, 1.0])
def test_the_share_of_the_young_is_rounded_up_however_few_fish_there_are(young):
    for n in range(1, 13):
        X, y = make_fish(n, young=young)
        lengths = X[y == 0, -1]
        assert np.sum(lengths < 0) == math.ceil(young * len(lengths))
        assert len(lengths) == math.ceil(n / 2)


def test_fish_and_toys_asked_for_nothing_are_those_of_the_book():
    X, y = make_fish()
    assert X.shape == (60, 2)
    assert np.sum(X[y == 0, 1] < 0) == 21  # seven of ten are young
    np.testing.assert_array_equal(X, make_fish(60, flicker=1, young=0.7, random_state=0)[0])
    toy = make_toy("classes", n_samples=100, noise=4, random_state=0)
    np.testing.assert_array_equal(make_toy("classes").data, toy.data)


def test_more_flicker_changes_only_the_lightness():
    calm, y = make_fish(30, flicker=1.0, random_state=7)
    wild, same = make_fish(30, flicker=10.0, random_state=7)
    np.testing.assert_array_equal(y, same)
    np.testing.assert_allclose(wild, calm * [10.0, 1.0])
