"""README.md and the overview pages quote results of the figures' pages: the same numbers must be in the row of the source."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURES = "tests/bench/figures"


def row(page, first_cell):
    """The cells of the first table row of a page that begins with this cell, each without what follows its second value."""
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
        if line.startswith("| ") and cells[0] == first_cell:
            return [", ".join(cell.split(", ")[:2]) for cell in cells[1:]]
    raise AssertionError(f"{page} has no row {first_cell}")


@pytest.mark.parametrize(("page", "first_cell", "source", "source_cell"), [
    ("README.md", "Sluice, default", "acks.md", "`unaided`"),
    ("README.md", "BBR 3, no proxy", "laws.md", "no proxy, BBR 3"),
    ("README.md", "Copa, no proxy", "laws.md", "no proxy, Copa"),
    (f"{FIGURES}/reports.md", "only acknowledgements", "acks.md", "`unaided`"),
])
def test_a_quoted_row_is_that_of_its_source(page, first_cell, source, source_cell):
    assert row(page, first_cell) == row(f"{FIGURES}/{source}", source_cell)


@pytest.mark.parametrize(("page", "source", "source_cell"), [("acks.md", "acks.md", "`unaided`"),
                                                             ("laws.md", "laws.md", "`smvs`, reference 18 ms (second loop 39 ms)")])
def test_the_overview_quotes_the_first_link(page, source, source_cell):
    overview = (ROOT / "tests/bench/FIGURES.md").read_text(encoding="utf-8")
    line = next(line for line in overview.splitlines() if f"(figures/{page})" in line)
    quoted = re.search(r"([\d.]+ %) of Verizon LTE at a p95 of (\d+ ms)", line)
    assert quoted and ", ".join(quoted.groups()) == row(f"{FIGURES}/{source}", source_cell)[0]
