"""The record of benchmarks: what is worse is found, what is not is let pass, what is no record is refused."""

import dataclasses
import importlib.util
import sys
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("record", Path(__file__).resolve().parents[2] / ".tools" / "record.py")
record = importlib.util.module_from_spec(SPEC)
sys.modules["record"] = record  # dataclasses look their module up
SPEC.loader.exec_module(record)

FIRST = record.Row("2026-01-01", "aaaa", split=3000, regulated=2000, untouched=1000, pair_bytes=1000)


def later(commit, **figures):
    return dataclasses.replace(FIRST, commit=commit, **figures)


@pytest.mark.parametrize(("figure", "value"), [("split", 3061), ("regulated", 2041), ("untouched", 1021), ("pair_bytes", 1021)])
def test_more_than_two_percent_is_found_with_the_numbers(figure, value):
    (message,) = record.worse([FIRST, later("bbbb", **{figure: value})])
    assert record.FIGURES[figure] in message
    assert str(value) in message
    assert str(getattr(FIRST, figure)) in message
    assert "bbbb" in message
    assert "aaaa" in message


def test_two_percent_passes():
    assert record.worse([FIRST, later("bbbb", split=3060, pair_bytes=1020)]) == []
    assert record.worse([FIRST]) == []


def test_the_best_earlier_row_counts_so_that_small_steps_add_up():
    rows = [FIRST, later("bbbb", split=3050), later("cccc", split=3100)]
    assert len(record.worse(rows)) == 1
    assert "aaaa" in record.worse(rows)[0]


def test_a_reason_accepts_a_rise_and_is_what_later_rows_are_compared_with():
    accepted = later("bbbb", split=3500, reason="packet memory is a budget")
    assert record.worse([FIRST, accepted]) == []
    assert record.worse([FIRST, accepted, later("cccc", split=3500)]) == []
    assert len(record.worse([FIRST, accepted, later("cccc", split=3600)])) == 1


def test_what_is_written_is_read(tmp_path):
    file = tmp_path / "record.csv"
    accepted = later("bbbb", split=3500, reason='one, "two"')
    record.append(FIRST, file)
    record.append(accepted, file)
    assert record.read(file) == [FIRST, accepted]
    page = tmp_path / "relay.md"
    page.write_text(record.with_figures(f"before\n{record.BEGIN}{record.END}after\n", accepted), encoding="utf-8")
    assert record.main(file, page) == 0
    record.append(later("cccc", split=9000), file)
    assert record.main(file, page) == 1


def test_the_page_of_figures_has_those_of_the_newest_row(tmp_path, capsys):
    file, page = tmp_path / "record.csv", tmp_path / "relay.md"
    record.append(FIRST, file)
    page.write_text(record.with_figures(f"before\n{record.BEGIN}{record.END}after\n", FIRST), encoding="utf-8")
    assert "| 3 000 |" in page.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8").endswith(f"{record.END}after\n")
    assert record.main(file, page) == 0
    record.append(later("bbbb", split=2999), file)
    assert record.main(file, page) == 1
    assert "newest row" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "date,commit\n", ",".join(record.COLUMNS) + "\n",
                                  ",".join(record.COLUMNS) + "\n2026-01-01,aaaa,1,2,3\n",
                                  ",".join(record.COLUMNS) + "\n2026-01-01,aaaa,1,2,3,many,\n",
                                  ",".join(record.COLUMNS) + "\n2026-01-01,aaaa,0,2,3,4,\n"])
def test_what_is_no_record_is_an_error(tmp_path, text):
    file = tmp_path / "record.csv"
    file.write_text(text, encoding="utf-8")
    assert record.main(file) == 1


def test_the_record_of_the_repository_is_in_order():
    assert record.worse(record.read()) == []
