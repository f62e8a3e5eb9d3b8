"""The figures in words: what the papers' page and the notes of scenarios say that was measured is in the record."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".tools"))
import papers  # noqa: E402
import papers_words as words  # noqa: E402

ASKED = {"x-one": {"seeds": 3, "numbers": [{"what": "goodput at 30 km/h", "column": "goodput", "paper": "70 %"}]}}
RECORD = [papers.Row("x-one", "s", "abc", 3, "goodput at 30 km/h", "", "", '[["",[1959,2050,2141]],["",[-0.6,-0.7,-0.8]]]')]
SCENARIO = """title: x
seed: 1
duration: 320s
paper:
  readings: ["a buffer of 47 packets"]
  reproduces:
    - "2 050 packets, at 47 (the paper: 99)"
  differs:
    - "none (3 seeds)"
"""


@pytest.fixture(name="folder")
def folder_of_one(tmp_path):
    (tmp_path / "x-one.yaml").write_text(SCENARIO, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("text", [
    "2 050 ± 226 packets", "2050", "about 2 050 and 0.7 % below", "−0.7 ± 0.25", "320 s (3 seeds)", "70 as in the paper",
    "at 30 km/h", "figure 12 and table 9", "at 10⁻³", "`y-fig14` has it", "10^-3"])
def test_what_was_measured_or_set_may_be_said(folder, text):
    row = f"| figure | `x-one` | 70 % | {text} | |"
    assert words.of_page("x.md", row, RECORD, ASKED, folder) == []


@pytest.mark.parametrize(("text", "said"), [
    ("2 049 packets", "2 049"), ("2 050 ± 225", "2 050 ± 225"), ("0.69 %", "0.69"), ("(5 seeds)", "5 seeds"),
    ("loses 12 of them", "12"), ("0.8 and 0.7", "0.8")])
def test_what_was_not_is_found(folder, text, said):
    for row in (f"| figure | `x-one` | 70 % | {text} | |", f"| figure | `x-one` | 70 % | | {text} |"):
        assert words.of_page("x.md", row, RECORD, ASKED, folder) == [f"x.md: x-one: numbers.csv has no {said}"]


def test_other_lines_of_the_page_are_not_looked_at(folder):
    assert words.of_page("x.md", "Of 298 numbers 16 were.\n| `x-one` | 5 | goodput | | 12 | 13 |\n| a | b | c | 12 | |", RECORD, ASKED, folder) == []


def test_the_notes_of_a_scenario_are_looked_at(folder):
    assert words.of_notes("x-one", RECORD, ASKED, folder) == []
    (folder / "x-one.yaml").write_text(SCENARIO.replace("2 050", "2 060").replace("none", "of 12 none"), encoding="utf-8")
    assert words.of_notes("x-one", RECORD, ASKED, folder) == ["x-one.yaml: numbers.csv has no 2 060", "x-one.yaml: numbers.csv has no 12"]


def test_those_of_the_repository_are_in_the_record():
    assert words.problems(papers.PAPERS) == []
