"""The summary of the replication says what the records say, number by number."""

from collections import Counter
from pathlib import Path

import author_draw_landing as landing
import numpy as np
import pytest
from scipy.stats import spearmanr
from test_text_verdict import span, stored_tables, word

from slnp_edu.evidence import paper, records
from slnp_edu.evidence.statistics import COMMON_BASES, verdicts

PAGE = (Path(__file__).parent.parent / "REPLICATION.md").read_text(encoding="utf-8")
LINES = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
ROWS = dict(line for line in LINES if len(line) == 2)
COLUMNS = [(name, N_i) for name, sizes in paper.DIMENSIONS.items() for N_i in sizes]
COUNT = {1: "one", 3: "three", 5: "five"}


def outcome(claim):
    """The row that begins so, claim and outcome."""
    (found,) = [f"{said} | {text}" for said, text in ROWS.items() if said.startswith(claim)]
    return found


@pytest.fixture(scope="module")
def rates():
    """(data set, N_i) -> method -> basis -> mean rate over the splits."""
    loaded = {name: records.load(name) for name in paper.DIMENSIONS}
    return {
        (name, N_i): {
            method: {basis: np.mean(of[basis]) for basis in COMMON_BASES}
            for method, of in records.rates(loaded[name], N_i).items()
        }
        for name, N_i in COLUMNS
    }


@pytest.fixture(scope="module")
def such():
    """(other, basis) -> the words on SLNP against it, for such images."""
    found = {}
    for name, sizes in paper.DIMENSIONS.items():
        record = records.load(name)
        outcomes = {N_i: records.all_outcomes(record, N_i) for N_i in sizes}
        for (_, *pair), each in verdicts(outcomes, landing.CLUSTERS[name]).items():
            found.setdefault(tuple(pair), []).append(each.such.word)
    return {pair: Counter(words) for pair, words in found.items()}


@pytest.fixture(scope="module")
def faces():
    return records.load("yale_b")["units"]


def of(units, kind):
    return [unit for key, unit in units.items() if key.startswith(f"{kind}/")]


def minus_printed(rates, method, basis, names=tuple(paper.DIMENSIONS)):
    return [
        rates[name, N_i][method][basis] - paper.rate(name, method, N_i)
        for name, N_i in COLUMNS
        if name in names
    ]


def test_the_table_of_rates(rates):
    (head,) = [line for line in PAGE.splitlines() if line.startswith("| | SLNP")]
    order = [cell.split(",")[0] for cell in head.strip("| ").split(" | ")[::3]]
    rows = {row[0]: row[1:] for row in LINES if len(row) == 10}
    assert list(rows) == list(landing.NAMES.values())
    for name, title in landing.NAMES.items():
        sizes = paper.DIMENSIONS[name]
        means = []
        for method in order:
            means.append(np.mean([paper.rate(name, method, N_i) for N_i in sizes]))
            means += [
                np.mean([rates[name, N_i][method][basis] for N_i in sizes])
                for basis in ("whitened", "orthonormal")
            ]
        assert rows[title] == [f"{mean:.1f}" for mean in means]


def test_rates_beside_the_printed_ones(rates):
    said = outcome("SLNP's rates")
    white = minus_printed(rates, "SLNP", "whitened")
    plain = minus_printed(rates, "SLNP", "orthonormal")
    assert f"ours lie {-max(white):.1f} to {-min(white):.1f} points below the printed" in said
    assert f"orthonormal, from {max(plain):.1f} above to {-min(plain):.1f} below" in said

    said = outcome("the rates of the four others")
    white, plain = (
        minus_printed(rates, "LDA", basis) + minus_printed(rates, "LFDA", basis)
        for basis in ("whitened", "orthonormal")
    )
    assert f"LFDA lie from {-min(white):.1f} below to {max(white):.1f} above" in said
    assert f"orthonormal, {min(plain):.1f} to {max(plain):.1f} above in every column" in said
    mfa, lsda = (
        [gap for basis in COMMON_BASES for gap in minus_printed(rates, method, basis, ["yale_b"])]
        for method in ("MFA", "LSDA")
    )
    assert f"MFA comes out {min(mfa):.0f} to {max(mfa):.0f} points higher" in said
    assert f"LSDA from {-min(lsda):.0f} lower to {max(lsda):.0f} higher" in said


def test_in_how_many_columns_slnp_is_first(rates):
    first = {
        basis: Counter(
            name
            for name, N_i in COLUMNS
            if max(paper.METHODS, key=lambda m: rates[name, N_i][m][basis]) == "SLNP"
        )
        for basis in COMMON_BASES
    }
    white, plain = first["whitened"], first["orthonormal"]
    said = outcome("SLNP is the best")
    assert f"highest in {white.total()} of {len(COLUMNS)} columns whitened, all of them of" in said
    assert set(white) == {"coil100"}
    assert f"in {plain.total()} orthonormal, three each of COIL-100 and MNIST" in said
    assert plain == {"coil100": 3, "mnist": 3}


@pytest.mark.parametrize("rival", ["LFDA", "LDA"])
def test_the_leads_over_lfda_and_lda(rival, such):
    said = outcome(f"it leads {rival}")
    leads = landing.printed(rival)
    assert f"by {min(leads):+.1f} to {max(leads):+.1f} points" in said
    plain, white = such[rival, "orthonormal"], such[rival, "whitened"]
    for start, count, columns in (
        ("orthonormal, it is level", plain, " of 17 columns"),
        ("whitened, level", white, ""),
    ):
        assert (
            f"{start} in {count['level']}{columns}, ahead in {count['ahead']}, "
            f"behind in {count['behind']}, undecided in {count['undecided']}"
        ) in said


def test_the_leads_over_mfa_and_lsda(such):
    said = outcome("it leads MFA")
    ahead = {pair: count["ahead"] for pair, count in such.items()}
    for other, words in (
        ("MFA", "ahead of MFA in {} of 17 (whitened {})"),
        ("LSDA", "of LSDA in {} (whitened {}), behind in none"),
        ("MFA, per sample", "chosen for each sample, as other codes have it: ahead in {} (w"),
    ):
        plain, white = ahead[other, "orthonormal"], ahead[other, "whitened"]
        assert words.format(plain, white) in said
    assert said.endswith(f"(whitened {ahead['MFA, per sample', 'whitened']})")
    for other in ("MFA", "LSDA"):
        assert not any(such[other, basis]["behind"] for basis in COMMON_BASES)


def test_learning():
    table = stored_tables()["neighbours"]
    before, after = table["fixed beforehand"], table["fixed after whitening"]
    said = outcome("neighbours learned")
    objects = [row[f"objects, {basis}"] for row in (before, after) for basis in COMMON_BASES]
    assert {word(cell) for cell in objects} == {"ahead"}
    assert f"before or after whitening, by {span(objects)} points" in said
    for name in ("faces", "digits"):
        assert {word(before[f"{name}, {basis}"]) for basis in COMMON_BASES} == {"level"}
    faces = [after[f"faces, {basis}"] for basis in COMMON_BASES]
    assert {word(cell) for cell in faces} == {"behind"}
    assert f"are better, by {span(faces)} points" in said


def test_convergence(faces):
    said = outcome("J converges")
    for K, words in (
        (5, "ends {:.0f} to {:.0f} per cent below its first value on five splits"),
        (9, "with K = 9 {:.0f} to {:.0f} per cent above"),
    ):
        J = np.array([unit["paper"] for unit in of(faces, f"fig4/{K}")])[:, :10]
        assert len(J) == 5
        moved = sorted(100 * abs(J[:, 9] / J[:, 0] - 1))
        assert words.format(moved[0], moved[-1]) in said
        assert np.all((J[:, 9] < J[:, 0]) == (K == 5))
        assert np.all(abs(J[:, 9] / J[:, 8] - 1) < 0.001)
        assert np.any(np.diff(J, axis=1) > 1e-3 * J[:, :-1])
    assert "less than 0.1 per cent" in said
    assert f"With K = {paper.FIGURES[4]['K']}, the setting shown" in said


def test_the_band_of_similarities(faces):
    printed = [paper.FIGURES[5][end]["s"] for end in ("smallest", "largest")]
    ends = [(min(last), max(last)) for last in (u["similarities"][-1] for u in of(faces, "fig5-7"))]
    alike = [bool(np.allclose(band, printed, rtol=0, atol=0.01)) for band in ends]
    said = outcome("the learned similarities")
    assert f"on {COUNT[sum(alike)]} of {COUNT[len(ends)]} splits" in said
    assert "within 0.01 of the printed {} and {}".format(*printed) in said
    low = sorted(band[0] for band, near in zip(ends, alike, strict=True) if not near)
    assert "the smallest is {:.3f} and {:.3f}".format(*low) in said
    K = paper.FIGURES[5]["K"]
    ceiling = (1 + 1 / np.sqrt(K - 1)) / K  # chapter 5: one neighbour at distance 0
    assert f"more than {ceiling:.3f}" in said
    assert max(band[1] for band in ends) < ceiling


def test_light_and_gamma(faces):
    said = outcome("the most similar face")
    learned, lpp = (np.mean([u[name] for u in of(faces, "fig6")]) for name in ("learned", "lpp"))
    assert f"(rank correlation {learned:.2f})" in said
    assert f"does ({lpp:.2f})" in said

    said = outcome("gamma tells")
    units = of(faces, "fig5-7")
    for unit in units:
        assert spearmanr(unit["gamma"], unit["spread_projected"])[0] > 0.97
        assert abs(spearmanr(unit["gamma"], unit["spread_original"])[0]) < 0.2
    assert "correlation above 0.97" in said
    assert "below 0.2 either way" in said
    printed = sorted(paper.FIGURES[7]["gamma"].values())
    ours = [gamma for unit in units for gamma in unit["gamma"]]
    assert f"printed {printed[0]} to {printed[-1]} do not" in said
    assert f"from {min(ours):.2f} to {max(ours):.2f} over all classes" in said


def test_sensitivity(faces):
    digits = records.load("mnist")["units"]
    said = outcome("the rate is robust")
    K = of(digits, "fig12")[0]["x"]
    named = paper.FIGURES[12]["no_significant_difference"]
    means = {
        (figure, basis): np.mean([unit[basis] for unit in of(units, figure)], axis=0)
        for figure, units in (("fig8", faces), ("fig12", digits))
        for basis in COMMON_BASES
    }
    for mean in means.values():
        kept = mean[[K.index(k) for k in named]]
        assert np.ptp(kept) < 1
    assert f"from K = {named[0]} to {named[-1]}" in said
    cost = sorted(mean.max() - mean[K.index(2)] for mean in means.values())
    assert f"K = 2 costs {cost[0]:.1f} to {cost[-1]:.1f} points" in said
    best = {K[means["fig12", basis].argmax()] for basis in COMMON_BASES}
    assert best == {5}
    assert f"is 5 here, {paper.FIGURES[12]['best_K']} in the paper" in said

    best = paper.FIGURES[9]["best_d"]
    assert f"{best} lies within 0.4 points of the best d" in outcome(f"d = {best}")
    units = of(faces, "fig9")
    for basis in COMMON_BASES:
        mean = np.mean([unit[basis] for unit in units], axis=0)
        assert mean.max() - mean[units[0]["x"].index(best)] < 0.4
