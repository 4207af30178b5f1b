"""The numbers that pages quote are those of the records."""

import author_numbers
import numpy as np
import pytest

from slnp_study import records


@pytest.fixture(scope="module")
def facts():
    return author_numbers.facts()


@pytest.mark.parametrize("page", author_numbers.PAGES)
def test_a_page_has_the_numbers_of_the_records(page, facts):
    text = (author_numbers.ROOT / page).read_text("utf-8")
    assert text == author_numbers.filled(text, facts), "run tools/author_numbers.py"


def test_leads_are_those_of_the_counts_in_the_records(facts):
    """From the counts of right images alone, without a function of the study."""
    leads = []
    for name in ("yale_b", "coil100", "mnist"):
        record, of_column = records.load(f"{name}-rivals"), {}
        bases = [record["settings"]["bases"].index(b) for b in ("whitened", "orthonormal", "unit")]
        for key, unit in record["units"].items():
            lead = np.subtract(*(np.take(unit["right"][m], bases) for m in ("SLNP", "LFDA")))
            of_column.setdefault(key[:9], []).append(100 * lead / unit["tested"])
        leads += [np.mean(of_splits, axis=0) for of_splits in of_column.values()]
    leads = np.ravel(leads)
    assert len(leads) == 17 * 3
    assert facts["lead.LFDA"] == f"{min(leads):+.1f} to {max(leads):+.1f}"


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ("A lead of <!--gap--><!--/--> points.", "No number is called gap"),
        ("A lead of <!--lead-->0.4 points.", "lacks its name or its end"),
        ("Either <!--lead-->0.4 or <!--lead-->0.5<!--/-->.", "lacks its name or its end"),
        ("A lead of 0.4<!--/--> points.", "lacks its name or its end"),
        ("A lead of\n<!--lead--><!--/--> points.", "Put a word before lead"),
    ],
)
def test_a_mark_that_would_be_lost_is_named(page, fault):
    with pytest.raises(ValueError, match=fault):
        author_numbers.filled(page, {"lead": "+0.4"})


def test_only_what_is_between_two_comments_changes():
    page = "About <!--lead-->+9.9<!--/--> points, <!-- a remark --> and\n\n<!--table--><!--/-->\n"
    filled = author_numbers.filled(page, {"lead": "+0.4", "table": "\n\n| a |\n\n"})
    assert filled == page.replace("+9.9", "+0.4").replace("table-->", "table-->\n\n| a |\n\n")
