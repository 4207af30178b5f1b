"""The one-page summary of the replication says what the records say."""

from pathlib import Path

import author_draw_landing as landing
import numpy as np
import pytest
from scipy.stats import spearmanr
from test_text_landing import printed_minus_measured

from slnp_edu.evidence import paper, records

PAGE = (Path(__file__).parent.parent / "REPLICATION.md").read_text(encoding="utf-8")
ROWS = dict(line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| "))


def outcome(claim):
    (found,) = [(said, text) for said, text in ROWS.items() if said.startswith(claim)]
    return found


@pytest.fixture(scope="module")
def faces():
    return records.load("yale_b")["units"]


def of(units, kind):
    return [unit for key, unit in units.items() if key.startswith(f"{kind}/")]


def test_the_rates_and_the_leads():
    gaps = printed_minus_measured()
    _, said = outcome("SLNP's rates")
    assert f"{-min(gaps):.1f} points above the printed ones to {max(gaps):.1f} below" in said
    claim, said = outcome("SLNP leads LFDA")
    leads = landing.printed("LFDA")
    assert f"by {min(leads):+.1f} to {max(leads):+.1f} points" in claim
    words = [v.such.word for v in landing.judged()["LFDA", "orthonormal"]]
    count = {word: words.count(word) for word in ("level", "ahead", "behind", "undecided")}
    assert (
        f"level in {count['level']} of {len(words)} columns, ahead in {count['ahead']}, "
        f"behind in {count['behind']}, undecided in {count['undecided']}"
    ) in said


def test_convergence(faces):
    for K, below in ((5, True), (9, False)):
        J = np.array([unit["paper"] for unit in of(faces, f"fig4/{K}")])
        assert np.all((J[:, 9] < J[:, 0]) == below)
        assert np.any(np.diff(J, axis=1) > 1e-3 * J[:, :-1])
    _, said = outcome("J converges")
    assert "(K = 5)" in said
    assert "with K = 9 it is above" in said


def test_the_band_of_similarities(faces):
    """Narrow as in the paper, 0.0891 to 0.1307, give or take a hundredth at both ends."""
    printed = [paper.FIGURES[5][end]["s"] for end in ("smallest", "largest")]
    ends = [(min(last), max(last)) for last in (u["similarities"][-1] for u in of(faces, "fig5-7"))]
    alike = sum(bool(np.allclose(band, printed, rtol=0, atol=0.01)) for band in ends)
    words = {3: "three", 5: "five"}
    assert (
        f"on {words[alike]} of {words[len(ends)]} splits" in outcome("the learned similarities")[1]
    )


def test_light_and_gamma(faces):
    _, said = outcome("the most similar face")
    learned, lpp = (np.mean([u[name] for u in of(faces, "fig6")]) for name in ("learned", "lpp"))
    assert f"(rank correlation {learned:.2f})" in said
    assert f"does ({lpp:.2f})" in said
    for unit in of(faces, "fig5-7"):
        assert spearmanr(unit["gamma"], unit["spread_projected"])[0] > 0.9
        assert abs(spearmanr(unit["gamma"], unit["spread_original"])[0]) < 0.3


def test_sensitivity(faces):
    digits = records.load("mnist")["units"]
    for units in (of(faces, "fig8"), of(digits, "fig12")):
        for basis in ("whitened", "orthonormal"):
            mean = np.mean([unit[basis] for unit in units], axis=0)
            K = units[0]["x"]
            from_5 = mean[K.index(5) :]
            assert from_5.max() - from_5.min() < 1.5
            assert K[0] == 2
            assert 1.5 <= mean.max() - mean[0] <= 2.5
    for basis in ("whitened", "orthonormal"):
        units = of(faces, "fig9")
        mean = np.mean([unit[basis] for unit in units], axis=0)
        assert mean.max() - mean[units[0]["x"].index(38)] < 0.5
