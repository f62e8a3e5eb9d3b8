"""configs/papers/COVERAGE.md names every figure and table of the papers, every experiment, and nothing that is not there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "configs/papers"
# How many figures and tables each paper has that numbers them.
FIGURES = {"SMVS": 16, "CLAMP": 10, "Window Regulator": 15, "Generalized Window Advertising": 10}
TABLES = {"SMVS": {"1", "2", "3"}, "CLAMP": {"1", "2"}, "Window Regulator": {"I"}, "Generalized Window Advertising": set()}


def sections():
    """{paper: [(item, what, here)]}"""
    found = {}
    for section in re.split(r"^## ", (PAPERS / "COVERAGE.md").read_text(encoding="utf-8"), flags=re.M)[1:]:
        rows = re.findall(r"^\| (?!item|---)(.*?) \| (.*?) \| (.*?) \|$", section, re.M)
        found[section.split(" (")[0]] = rows
    return found


def numbered(rows, kind):
    """The numbers in items such as `figures 3, 4, 5`."""
    return [number for item, *_ in rows for text in re.findall(rf"{kind}s? ([\dI, ]+)", item) for number in re.findall(r"\d+|I", text)]


def test_every_figure_and_table_has_one_row():
    for paper, most in FIGURES.items():
        rows = sections()[paper]
        assert sorted(map(int, numbered(rows, "figure"))) == list(range(1, most + 1)), paper
        assert set(numbered(rows, "table")) == TABLES[paper], paper


def test_no_cell_is_empty_and_what_is_missing_says_why():
    for paper, rows in sections().items():
        assert rows, paper
        for row in rows:
            assert all(cell.strip() for cell in row), (paper, row)
            assert not re.fullmatch(r"none\.?", row[2]), (paper, row)


def test_every_experiment_is_named_and_every_name_is_there():
    names = {name for rows in sections().values() for *_, here in rows for name in re.findall(r"`([^`]+)`", here)}
    files = {name for name in names if "/" in name}
    missing = {name for name in files if not (ROOT / name).exists()}
    assert not missing, missing
    experiments = {file.stem for file in PAPERS.glob("*.yaml")}
    assert experiments <= names, experiments - names
    others = {name for name in names - files - experiments if re.match(r"(smvs|clamp|wr|gwa|wlan)-\w", name)}
    assert not others, others
