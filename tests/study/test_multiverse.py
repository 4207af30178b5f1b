"""What the live multiverse shows is what the records hold."""

import json
from base64 import b64decode

import numpy as np
import pytest

from slnp_study import multiverse, paper, records


def unpacked(side):
    """Rates as the figure's script reads them."""
    return np.frombuffer(b64decode(side["rates"]), "<u2").reshape(side["shape"]) / 655.35


@pytest.mark.parametrize("name", paper.DATASETS)
def test_a_packed_rate_is_that_of_the_record(name):
    shown = multiverse.explorable()["sets"][paper.DATASETS[name]["name"]]
    ours, theirs, printed = multiverse.rates(name)
    np.testing.assert_allclose(unpacked(shown["ours"]), ours, atol=0.001)
    np.testing.assert_allclose(unpacked(shown["theirs"]), theirs, atol=0.001)
    assert shown["printed"] == printed > 3
    leads = np.broadcast_shapes(ours.shape, theirs.shape)
    assert leads == tuple(len(ways) for ways in multiverse.CHOICES.values())


def test_the_data_of_three_sets_are_light():
    assert len(json.dumps(multiverse.explorable())) <= 40_000


def test_a_lead_is_that_of_the_chapters():
    found = records.read("yale_b-rivals")
    ours, theirs, _ = multiverse.rates("yale_b")
    for i, kernel in enumerate(("LFDA", "LFDA, c = 2")):
        lead = found.lead("SLNP", kernel, "orthonormal").these.points
        np.testing.assert_allclose((ours - theirs)[i, 1, 0], lead)
