"""What the live multiverse shows is what the records hold."""

import json
from base64 import b64decode

import numpy as np
import pytest

from slnp_study import multiverse, paper, records
from slnp_study.studies import choices


def unpacked(side):
    """Rates as the figure's script reads them."""
    return np.frombuffer(b64decode(side["rates"]), "<u2").reshape(side["shape"]) / 655.35


@pytest.fixture(scope="module")
def shown():
    return multiverse.explorable()


@pytest.mark.parametrize("name", paper.DATASETS)
@pytest.mark.parametrize(("figure", "read"), [("small", "rates"), ("whole", "every_rate")])
def test_a_packed_rate_is_that_of_the_record(shown, name, figure, read):
    of_set = shown[figure]["sets"][paper.DATASETS[name]["name"]]
    ours, theirs, printed = getattr(multiverse, read)(name)
    np.testing.assert_allclose(unpacked(of_set["ours"]), ours, atol=0.001)
    np.testing.assert_allclose(unpacked(of_set["theirs"]), theirs, atol=0.001)
    assert of_set["printed"] == printed > 3
    leads = np.broadcast_shapes(ours.shape, theirs.shape)
    assert leads == tuple(len(ways) for ways in shown[figure]["choices"].values())


def test_the_whole_figure_has_every_specification_of_the_record(shown):
    for name in paper.DATASETS:
        ours, theirs, printed = multiverse.every_rate(name)
        assert (ours - theirs).size == 15_552
        found = records.read(f"{name}-choices")
        made = choices.where(**choices.AS_PRINTED, kernel=0.1)
        leads = [np.mean((of["SLNP"] - of["LFDA"])[:, *made]) for of in found.values()]
        way = [
            ways.index(shown["whole"]["made"].get(choice, "width 0.1"))
            for choice, ways in multiverse.EVERY.items()
        ]
        np.testing.assert_allclose((ours - theirs)[*way], np.mean(leads))
        columns = [paper.rate(name, "SLNP", N) - paper.rate(name, "LFDA", N) for N in found]
        np.testing.assert_allclose(printed, np.mean(columns))


def test_the_data_of_both_figures_are_light(shown):
    assert len(json.dumps(shown)) <= 40_000


def test_a_lead_is_that_of_the_chapters():
    found = records.read("yale_b-rivals")
    ours, theirs, _ = multiverse.rates("yale_b")
    for i, kernel in enumerate(("LFDA", "LFDA, c = 2")):
        lead = found.lead("SLNP", kernel, "orthonormal").these.points
        np.testing.assert_allclose((ours - theirs)[i, 1, 0], lead)
