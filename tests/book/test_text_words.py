"""No sentence of README, landing page or summary says who is ahead but what the records say."""

import re
from collections import Counter
from pathlib import Path

import pytest

from slnp_study import paper, records
from slnp_study.statistics import COMMON_BASES, verdicts

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "book/index.md", "book/summary.md")
WORDS = ("level", "ahead", "behind", "undecided")
#: What the words mean; the only sentence that may use them without counting columns.
MEANING = (
    "*Level* means that a test shows the difference to be below one point; *ahead* and *behind*, "
    "that it does not, but the difference is not zero, even after a correction for the many "
    "comparisons; *undecided*, neither."
)
CLUSTER = {"yale_b": "class", "coil100": "class", "mnist": "image"}


@pytest.fixture(scope="module")
def found():
    """(rival, basis) -> the verdict of each of the 17 columns."""
    columns = {}
    for name, cluster in CLUSTER.items():
        record = records.load(name)
        splits = {N_i: records.all_outcomes(record, N_i) for N_i in paper.DIMENSIONS[name]}
        for (_, rival, basis), verdict in verdicts(splits, cluster).items():
            columns.setdefault((rival, basis), []).append(verdict)
    return columns


def sentences(page):
    text = re.sub(r"\s+", " ", (ROOT / page).read_text())
    text = re.sub(r"\{ref\}`([^<`]*) <[^`]*>`", r"\1", text)  # a link's name may hold a full stop
    return re.split(r"(?<=\.)\s|(?<=\.\*\*)\s", text)


def counted(sentence):
    """Word -> in how many columns, as the sentence has it."""
    clauses = re.findall(
        rf"\b({'|'.join(WORDS)})\b(?:(?!{'|'.join(WORDS)}).)*?\bin (\d+)", sentence
    )
    return {word: int(number) for word, number in clauses}


@pytest.mark.parametrize("page", PAGES)
def test_whoever_is_called_ahead_behind_or_level_is_so_in_the_records(found, page):
    for sentence in sentences(page):
        said = counted(sentence)
        if sentence == MEANING:
            continue
        if not re.search(r"\b(level|ahead|behind)\b", sentence):
            assert "undecided" not in said, sentence
            continue
        assert set(said) == set(WORDS), f"no count of all 17 columns: {sentence}"
        rivals = [rival for rival in ("LFDA", "LDA") if re.search(rf"\b{rival}\b", sentence)]
        assert len(rivals) == 1, sentence
        basis = "whitened" if "hitened" in sentence else "orthonormal"
        words = Counter(verdict.such.word for verdict in found[rivals[0], basis])
        assert said == {word: words[word] for word in WORDS}, sentence


def test_the_words_mean_what_the_landing_page_says(found):
    assert MEANING in sentences("book/index.md")
    for verdict in (verdict for column in found.values() for verdict in column):
        word, points, _, p_zero, p_margin = verdict.such  # Holm's p, and that of equivalence
        leaning = "ahead" if points > 0 else "behind"
        expected = "level" if p_margin < 0.05 else leaning if p_zero < 0.05 else "undecided"
        assert word == expected


def test_most_of_the_columns_ahead_of_lda_are_digits(found):
    assert "most of the columns ahead are digits" in " ".join(read("book/index.md").split())
    words = [verdict.such.word for verdict in found["LDA", "orthonormal"]]
    digits = words[-len(paper.DIMENSIONS["mnist"]) :]
    assert 2 * digits.count("ahead") > words.count("ahead") > 0


def test_the_lead_over_lda_on_digits_is_mostly_gone_in_the_whitened_metric(found):
    said = "Whitened, only two of the six columns of digits still show a lead over LDA."
    assert said in " ".join(read("book/index.md").split())
    digits = found["LDA", "whitened"][-6:]
    assert len(paper.DIMENSIONS["mnist"]) == 6
    assert [verdict.such.word for verdict in digits].count("ahead") == 2


def test_the_pages_do_say_something():
    """Else the test above could not fail."""
    said = [counted(sentence) for page in PAGES for sentence in sentences(page)]
    assert sum(len(each) == len(WORDS) for each in said) >= 3


def test_what_the_readme_says_of_its_picture(found):
    (alt,) = re.findall(r"!\[(SLNP's lead.*?)\]", re.sub(r"\s+", " ", read("README.md")))
    low, high = map(int, re.search(r"as printed, (\d) to (\d) points", alt).groups())
    printed = [
        paper.rate(name, "SLNP", N_i) - paper.rate(name, rival, N_i)
        for name, columns in paper.DIMENSIONS.items()
        for N_i in columns
        for rival in ("LDA", "LFDA")
    ]
    assert (low, high) == (round(min(printed)), round(max(printed)))
    for rival in ("LFDA", "LDA"):
        leads = [each.these.points for basis in COMMON_BASES for each in found[rival, basis]]
        assert len(leads) == 2 * 17
        said = re.search(rf"(\S+) to (\S+)(?: points)? against {rival}", alt).groups()
        assert said == (f"{min(leads):+.1f}", f"{max(leads):+.1f}")


def read(page):
    return (ROOT / page).read_text()
