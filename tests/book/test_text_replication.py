"""The summary of the replication says what the records say, number by number."""

from collections import Counter
from pathlib import Path

import author_draw_landing as landing
import numpy as np
import pytest
from scipy.stats import spearmanr
from test_text_verdict import span, stored_tables, word

from slnp_study import paper, records
from slnp_study.statistics import COMMON_BASES, explained, verdicts
from slnp_study.studies import choices, tuning

PAGE = (Path(__file__).parents[2] / "REPLICATION.md").read_text(encoding="utf-8")
LINES = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
ROWS = dict(line for line in LINES if len(line) == 2)
COLUMNS = [(name, N_i) for name, sizes in paper.DIMENSIONS.items() for N_i in sizes]
COUNT = {0: "none", 1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


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
    """(other, basis) -> (data set, N_i) -> the finding on SLNP against it, for such images."""
    found = {}
    for name, sizes in paper.DIMENSIONS.items():
        record = records.load(name)
        outcomes = {N_i: records.all_outcomes(record, N_i) for N_i in sizes}
        for (N_i, *pair), each in verdicts(outcomes, landing.CLUSTERS[name]).items():
            found.setdefault(tuple(pair), {})[name, N_i] = each.such
    return found


def words(findings):
    return Counter(finding.word for finding in findings.values())


def points(such, other, names=tuple(paper.DIMENSIONS)):
    """The differences in both bases, in the columns of some data sets."""
    return [
        finding.points
        for basis in COMMON_BASES
        for (name, _), finding in such[other, basis].items()
        if name in names
    ]


def printed_leads(other, names=tuple(paper.DIMENSIONS)):
    return [
        paper.rate(name, "SLNP", N_i) - paper.rate(name, other, N_i)
        for name, N_i in COLUMNS
        if name in names
    ]


def span_of(values, form="{:+.1f} to {:+.1f}"):
    return form.format(min(values), max(values))


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
    leads = printed_leads(rival)
    assert f"by {min(leads):+.1f} to {max(leads):+.1f} points" in said
    plain, white = words(such[rival, "orthonormal"]), words(such[rival, "whitened"])
    for start, count, columns in (
        ("orthonormal, it is level", plain, " of 17 columns"),
        ("whitened, level", white, ""),
    ):
        assert (
            f"{start} in {count['level']}{columns}, ahead in {count['ahead']}, "
            f"behind in {count['behind']}, undecided in {count['undecided']}"
        ) in said


def test_what_else_is_said_of_lfda(such):
    said = outcome("it leads LFDA")
    assert f"differences go from {span_of(points(such, 'LFDA'))} points" in said
    apart = {
        column: finding.points
        for column, finding in such["LFDA", "orthonormal"].items()
        if finding.word == "level" and finding.p_zero < 0.05
    }
    objects = [lead for (name, _), lead in apart.items() if name == "coil100"]
    (face,) = [lead for (name, _), lead in apart.items() if name == "yale_b"]
    assert len(apart) == 3
    assert min(objects) > 0
    assert f"by up to {max(objects):.1f}, and one of faces lower, by {-face:.1f}." in said
    ways = set()
    for name, N_i in choices.COLUMN.items():
        rates = choices.rates(records.load(f"{name}-choices"))
        leads = (rates["SLNP"] - rates["LFDA"]).mean(axis=0)
        ways.add(leads.size)
        assert leads.max() < paper.rate(name, "SLNP", N_i) - paper.rate(name, "LFDA", N_i)
    assert f"Of {ways.pop():,} ways" in said


def test_what_else_is_said_of_lda(such):
    ahead = [column for column, f in such["LDA", "orthonormal"].items() if f.word == "ahead"]
    digits = sum(name == "mnist" for name, _ in ahead)
    d = [setting["d"] for setting in paper.DIMENSIONS["mnist"].values()]
    assert (
        f"{COUNT[digits].capitalize()} of the {len(ahead)} are digits, where LDA has nine "
        f"directions and SLNP {span_of(d, '{} to {}')}"
    ) in outcome("it leads LDA")


def test_the_leads_over_mfa(such):
    said = outcome("it leads MFA")
    for name, title in (("yale_b", "faces"), ("coil100", "objects"), ("mnist", "digits")):
        printed = span_of(printed_leads("MFA", [name]), "{:.1f} to {:.1f}")
        assert f"on {title} by {printed}" in said
        assert f"on {title} {span_of(points(such, 'MFA', [name]))}" in said
    plain, white = words(such["MFA", "orthonormal"]), words(such["MFA", "whitened"])
    assert (
        f"ahead in {plain['ahead']} of 17 columns (whitened {white['ahead']}), behind in none"
        in said
    )
    assert plain["behind"] == white["behind"] == 0
    plain, white = (words(such["MFA, per sample", b]) for b in ("orthonormal", "whitened"))
    assert (
        f"ahead in {plain['ahead']} (whitened {white['ahead']}) and behind in {plain['behind']} "
        f"(whitened {white['behind']})"
    ) in said


def test_the_leads_over_lsda(such):
    said = outcome("it leads LSDA")
    assert f"by {span_of(printed_leads('LSDA'))} points" in said
    for basis in COMMON_BASES:
        ahead = {column for column, f in such["LSDA", basis].items() if f.word == "ahead"}
        assert ahead == {column for column in COLUMNS if column[0] != "mnist"}
        assert f"{len(ahead)} of 17 columns in either basis" in said
        assert words(such["LSDA", basis])["behind"] == 0
    tuned = records.load("yale_b-tuned")
    ten = slice(tuning.SPLITS)
    gains = [
        tuning.column(tuned, N_i).rates("LSDA", basis).mean()
        - np.mean(records.rates(records.load("yale_b"), N_i)["LSDA"][basis][ten])
        for N_i in tuning.GRIDS["yale_b"]
        for basis in COMMON_BASES
    ]
    assert f"gains {span_of(gains, '{:.0f} to {:.0f}')} points" in said


def test_few_images(such):
    said = outcome("the advantage is largest")
    others = [method for method in paper.METHODS if method != "SLNP"]
    for name, title in (("coil100", "objects"), ("mnist", "digits")):
        assert f"{title} with N<sub>i</sub> = {min(paper.DIMENSIONS[name])}" in said

    def told(name, basis):
        column = (name, min(paper.DIMENSIONS[name]))
        return {other: such[other, basis][column].word for other in others}

    for basis in COMMON_BASES:
        assert "ahead" not in told("mnist", basis).values()
        level, ahead = ["LDA", "LFDA"], ["MFA", "LSDA"]
        assert told("coil100", basis) == dict.fromkeys(level, "level") | dict.fromkeys(
            ahead, "ahead"
        )
    lda = such["LDA", "whitened"]["mnist", 5]
    assert lda.word == "behind"
    assert f"whitened behind LDA by {-lda.points:.1f} points" in said


def test_in_short():
    (said,) = [line for line in PAGE.split("\n\n") if line.startswith("**In short.**")]
    record = records.load("mnist")
    found = {N_i: records.rates(record, N_i) for N_i in paper.DIMENSIONS["mnist"]}
    inside = {
        (method, basis): sum(
            explained(paper.rate("mnist", method, N_i), of[method][basis])
            for N_i, of in found.items()
        )
        for method in paper.METHODS
        for basis in COMMON_BASES
    }
    rivals = sum(inside[m, "whitened"] for m in paper.METHODS if m != "SLNP")
    assert f"all {rivals} printed rates of the rivals" in said
    assert rivals == 4 * len(found)
    assert f"all {COUNT[inside['SLNP', 'orthonormal']]} of SLNP" in said
    assert inside["SLNP", "orthonormal"] == len(found)
    tuned = [
        finding.word
        for name in tuning.GRIDS
        for (_, other, basis), finding in tuning.tuned_findings(records.load(f"{name}-tuned"))[
            0
        ].items()
        if (other, basis) == ("LFDA", "free")
    ]
    level, undecided = tuned.count("level"), tuned.count("undecided")
    assert len(tuned) == 7 == level + undecided
    assert f"LFDA in {COUNT[level]} of seven columns and undecided in {COUNT[undecided]}" in said


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
    for K, form in (
        (5, "J ends {:.0f} to {:.0f} per cent below its first value"),
        (9, "with K = 9 it settles {:.0f} to {:.0f} per cent above"),
    ):
        J = np.array([unit["paper"] for unit in of(faces, f"fig4/{K}")])
        assert J.shape == (5, 20)
        assert span_of(100 * abs(J[:, 9] / J[:, 0] - 1), form) in said
        drift = 100 * np.max(abs(J[:, 10:] / J[:, 9:10] - 1))
        assert (f"drifts by up to {drift:.1f} per cent" in said) == (K == 5)
        assert np.all((J[:, 9] < J[:, 0]) == (K == 5))
        assert np.all(abs(J[:, 9] / J[:, 8] - 1) < 0.001)
        assert np.any(np.diff(J, axis=1) > 1e-3 * J[:, :-1])
    assert "less than 0.1 per cent" in said
    assert f"the setting shown**, K = {paper.FIGURES[4]['K']}" in said


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
    assert f"above {ceiling:.3f} for K = {K}" in said
    assert max(band[1] for band in ends) < ceiling


def test_light_and_gamma(faces):
    said = outcome("learned similarity captures")
    learned, lpp = (np.mean([u[name] for u in of(faces, "fig6")]) for name in ("learned", "lpp"))
    assert f"is {learned:.2f} for the learned one and {lpp:.2f} for LPP's" in said

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
    order = sorted(paper.FIGURES[7]["gamma"], key=paper.FIGURES[7]["gamma"].get)
    assert "classes {}, {} and {}".format(*order) in said
    same = sum(bool(np.all(np.diff([u["gamma"][c - 1] for c in order]) > 0)) for u in units)
    assert f"in {COUNT[same]} of {COUNT[len(units)]} splits" in said


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
    assert f"from K = {named[0]} to {named[-1]} mean" in said
    assert f"on digits from {named[0]} to {named[-1]}, Fig. 12" in said
    assert (
        f"on faces from {paper.FIGURES[8]['K'][0]} to {paper.FIGURES[8]['K'][-1]}, Fig. 8" in said
    )
    assert tuple(K) == paper.FIGURES[8]["K"]
    spread = {basis: np.ptp(means["fig8", basis]) for basis in COMMON_BASES}
    assert (
        f"From {K[0]} to {K[-1]} they differ by up to {spread['whitened']:.1f} points (whitened) "
        f"and {spread['orthonormal']:.1f} (orthonormal) on faces"
    ) in said
    digits = [means["fig12", basis] for basis in COMMON_BASES]
    cost = [mean.max() - mean[K.index(2)] for mean in digits]
    assert f"K = 2 costs {span_of(cost, '{:.1f} to {:.1f}')} on digits" in said
    assert {K[mean.argmax()] for mean in digits} == {5}
    assert f"is 5 here, {paper.FIGURES[12]['best_K']} in the paper" in said


def test_directions(faces):
    d = paper.FIGURES[9]["best_d"]
    said = outcome(f"on faces the rate rises fast until d = {d}")
    units = of(faces, "fig9")
    means = {basis: np.mean([unit[basis] for unit in units], axis=0) for basis in COMMON_BASES}
    x = units[0]["x"]
    for mean in means.values():
        assert mean.max() - mean[x.index(d)] < 0.4
        assert mean.max() - mean[x.index(18)] < 3
    best = {basis: x[mean.argmax()] for basis, mean in means.items()}
    assert f"{d} lies within 0.4 points" in said
    assert f"is {best['whitened']} whitened and {best['orthonormal']} orthonormal; d = 18" in said
    assert said.endswith("within 3")
