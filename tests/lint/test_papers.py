"""The numbers of the papers' page: taken from results as asked, and compared with what is stored."""

import dataclasses
import json
import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".tools"))
import papers  # noqa: E402

RESULTS = """scenario,clock,mode,law,buffer,seed,measured_s,goodput,fetch_mean_ms
x,virtual,none,none,10,1,60,0.5,
x,virtual,none,none,10,2,60,0.7,
x,virtual,smvs,fast,10,1,60,0.6,12
x,virtual,smvs,fast,10,2,60,0.7,14
x,virtual,none,none,20,1,60,0.9,
x,virtual,none,none,20,2,60,0.9,
x,virtual,smvs,fast,20,1,60,0.9,1
x,virtual,smvs,fast,20,2,60,0.99,2
"""
SCENARIO = """title: a title
description: >-
  some text
  more of it
duration: 10s  # the run
cell: {ues: [{channel: {profile: {file: other.yaml}}}]}
paper:
  source: somewhere
"""
TOML = """
[x-one]
seeds = 2
numbers = [{what = "goodput", column = "goodput", unit = "%", where = {mode = "none", buffer = "10"}, paper = "60 %"}]
"""
PAGE = "# Page\n\n<!-- numbers x -->\n<!-- end -->\n\nafter\n"


@pytest.fixture(name="results")
def results_of_runs(tmp_path):
    (tmp_path / "results.csv").write_text(RESULTS, encoding="utf-8")
    return papers.Results(tmp_path)


def number(results, text=papers.number_text, **wanted):
    asked = {"what": "it", "column": "goodput", **wanted}
    return text(papers.picked_points(results, asked), asked)


def test_one_point_is_mean_and_interval_over_its_seeds(results):
    assert number(results, unit="%", where={"mode": "none", "buffer": "10"}) == "60 ± 127 %"  # t(1) 12.706 · 14.1421/√2
    assert number(results, unit="ms", column="fetch_mean_ms", where={"mode": "smvs", "buffer": "20"}) == "1.5 ± 6.4 ms"


def test_one_seed_has_no_interval(results):
    results.rows = [row for row in results.rows if row["seed"] == "1"]
    assert number(results, unit="%", where={"mode": "none", "buffer": "10"}) == "50.0 %"


def test_of_several_points_the_ends_are_given_with_what_tells_them_apart(results):
    assert number(results, where={"mode": "none"}, pick="range") == "0.6 ± 1.3 (buffer 10) … 0.900 ± 0.000 (buffer 20)"
    assert number(results, where={"mode": "none"}, pick="most") == "0.900 ± 0.000 (buffer 20)"
    assert number(results, where={"mode": "none"}, pick="least") == "0.6 ± 1.3 (buffer 10)"
    assert number(results, where={"buffer": "20"}, pick="most") == "0.95 ± 0.57 (mode smvs)", "the law goes with the mode"


def test_one_column_may_be_over_another_of_the_same_run(results):
    asked = {"what": "it", "column": "fetch_mean_ms", "over": "goodput", "where": {"mode": "smvs", "buffer": "10"}}
    assert papers.all_points(results, asked)[0][1] == pytest.approx([20, 20])
    with pytest.raises(papers.PapersError, match="no column none"):
        number(results, over="none", where=asked["where"])


def test_a_mean_over_points_is_taken_seed_by_seed(results):
    assert number(results, unit="%", where={"mode": "none"}, pick="mean") == "75 ± 64 %"
    assert papers.all_points(results, {"what": "it", "column": "goodput", "where": {"mode": "none"}, "pick": "mean"}) == [("", [0.7, 0.8])]


def test_rows_are_compared_seed_by_seed_and_what_goes_with_a_mode_may_differ(results):
    assert number(results, where={"mode": "smvs", "buffer": "10"}, versus={"mode": "none"}) == "10 ± 127 %"
    assert number(results, where={"mode": "smvs", "buffer": "20"}, times={"mode": "none"}) == "1.05 ± 0.64"


@pytest.mark.parametrize(("wanted", "said"), [({}, "4 points, expected one"), ({"column": "none"}, "no column none"),
                                              ({"where": {"size": "1"}}, "no sweep of size"),
                                              ({"where": {"mode": "clamp"}, "pick": "most"}, "0 points, expected some")])
def test_what_the_results_do_not_have_is_said(results, wanted, said):
    with pytest.raises(papers.PapersError, match=said):
        number(results, **wanted)


def test_the_interval_is_that_of_student():
    assert papers.interval([1]) is None
    assert papers.interval([1, 2, 3]) == pytest.approx(4.303 / 3 ** 0.5)
    assert papers.interval([0, 1] * 50) == pytest.approx((1.96 + 2.4 / 99) * 0.5025189 / 10)


def test_a_single_run_is_where_one_more_would_be_and_as_far_as_any_was():
    assert papers.one_run([1], False) is None
    assert papers.one_run([1, 2, 3], True) == pytest.approx((2 - 4.303 * (4 / 3) ** 0.5, 2 + 4.303 * (4 / 3) ** 0.5))
    assert papers.one_run([1, 2, 3], False)[0] == 0
    assert papers.one_run([1, 2, 3], False, 3.5)[1] == 3.5
    assert papers.one_run([1, 2, 3], False, 2.5)[1] == 3, "a run that was made counts"
    far = [*[0] * 29, 30]
    assert papers.one_run(far, True)[1] == 30 > 1 + 2.045 * 30 ** 0.5 * (31 / 30) ** 0.5


def test_the_bounds_of_a_run_are_printed_so_that_it_is_within(results):
    text = papers.one_run_text
    assert number(results, text, unit="%", where={"mode": "none", "buffer": "10"}) == "0 to 100 %"
    assert number(results, text, where={"mode": "none", "buffer": "20"}) == "0.900"
    assert number(results, text, where={"mode": "none"}, pick="range") == "0.00 to 1.00; 0.900"
    assert number(results, text, where={"mode": "smvs", "buffer": "10"}, versus={"mode": "none"}) == "−211 to 231 %"
    assert papers.printed_bounds([1.0001, 1.0002, 1.0003], {"column": "drops"})[:2] == (0.9997, 1.0007)
    same = [6965.16] * 10
    assert text([("", same)], {"column": "queue_mean_bytes"}) == "6965 to 6966", "whatever rounding makes of their interval"
    results.rows = [row for row in results.rows if row["seed"] == "1"]
    assert number(results, text, where={"mode": "none", "buffer": "10"}) == ""


@pytest.mark.parametrize(("wanted", "bound"), [
    ({"column": "utilisation", "unit": "%"}, 100), ({"column": "flow_jain"}, 1), ({"column": "access_point_ack_loss", "unit": "%"}, 100),
    ({"column": "throughput_bps", "unit": "Mb/s"}, math.inf), ({"column": "goodput", "versus": {"mode": "none"}}, math.inf)])
def test_no_part_is_more_than_the_whole(wanted, bound):
    assert papers.bound_of({"what": "it", **wanted}) == bound


def row_of(**fields):
    return papers.Row(**{"experiment": "x-one", "scenario": "s", "sources": "abc", "seeds": 2, "what": "it", "here": "", "one_run": "",
                         "values": '[["buffer 10",[50,70]],["buffer 20",[90,90]]]', **fields})


def test_a_run_is_compared_at_the_points_of_the_record(results):
    asked = {"what": "it", "column": "goodput", "unit": "%", "where": {"mode": "none"}, "pick": "range"}
    results.rows = [row for row in results.rows if row["seed"] == "2"]
    assert papers.compared(row_of(), asked, results) == [("buffer 10", 70, 0, 100), ("buffer 20", 90, 90, 90)]
    assert papers.told(row_of(), "buffer 10", 70, 0, 100) == ""
    assert papers.told(row_of(), "buffer 20", 90.1, 90, 90) == "outside: x-one: it (buffer 20): 90.1, printed 90 to 90"
    with pytest.raises(papers.PapersError, match="nothing to compare with"):
        papers.compared(row_of(values='[["buffer 30",[1,2]]]'), asked, results)
    with pytest.raises(papers.PapersError, match="no single runs"):
        papers.compared(row_of(values=""), asked, results)


def test_scenarios_are_copied_with_another_seed(folder):
    change(folder / "other.yaml", "duration", "seed: 1\nduration")
    copy = papers.with_seed(folder, 7, folder / "copy")
    assert (copy / "other.yaml").read_text(encoding="utf-8") == "seed: 7\nduration: 1s\n"
    assert (copy / "x-one.yaml").read_text(encoding="utf-8") == SCENARIO


@pytest.fixture(name="folder")
def folder_of_papers(tmp_path):
    """All agree."""
    (tmp_path / "x-one.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "numbers.toml").write_text(TOML, encoding="utf-8")
    (tmp_path / "other.yaml").write_text("duration: 1s\n", encoding="utf-8")
    with (tmp_path / "numbers.toml").open("a", encoding="utf-8") as file:
        file.write('[other]\nseeds = 1\nnumbers = [{what = "drops", column = "drops"}]\n')
    rows = [papers.Row("x-one", papers.digest("x-one", tmp_path), "abc", 2, "goodput", "60 ± 1 %", "50 to 70 %", '[["",[59,61]]]'),
            papers.Row("other", papers.digest("other", tmp_path), "abc", 1, "drops", "0", "", '[["",[0]]]')]
    papers.write_record(rows, tmp_path)
    page = PAGE + "\n<!-- numbers other -->\n<!-- end -->\n"
    (tmp_path / "x.md").write_text(papers.with_numbers(page, rows, papers.asked(tmp_path)), encoding="utf-8")
    return tmp_path


def change(file, before, after):
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def test_what_agrees_passes_and_the_page_keeps_its_text(folder):
    assert papers.problems(folder) == []
    assert papers.lint(folder) == 0
    page = (folder / "x.md").read_text(encoding="utf-8")
    assert "| `x-one` | 2 | goodput | 60 % | 60 ± 1 % | 50 to 70 % |\n" in page
    assert "| `other` | 1 | drops | | 0 | |\n" in page
    assert page.startswith("# Page\n\n") and "<!-- end -->\n\nafter\n" in page


def test_texts_and_comments_of_a_scenario_change_nothing(folder):
    change(folder / "x-one.yaml", "more of it", "other words")
    change(folder / "x-one.yaml", "somewhere", "elsewhere\n  differs: [something]")
    change(folder / "x-one.yaml", "duration", "# a comment\nduration")
    assert papers.problems(folder) == []


@pytest.mark.parametrize(("file", "before", "after", "said"), [
    ("x-one.yaml", "10s", "11s", "numbers.csv: x-one: the scenario has changed since"),
    ("other.yaml", "1s", "2s", "numbers.csv: x-one: the scenario has changed since"),
    ("numbers.toml", '"goodput", column', '"use", column', "numbers.csv: x-one: its numbers are not those of numbers.toml"),
    ("numbers.csv", "60 ± 1 %", "61 ± 1 %", "x.md: its tables are not those of numbers.csv"),
    ("x.md", "60 ± 1 %", "61 ± 1 %", "x.md: its tables are not those of numbers.csv"),
    ("x.md", "numbers x", "numbers y", "x.md: no <!-- numbers x -->")])
def test_what_does_not_agree_is_found(folder, capsys, file, before, after, said):
    change(folder / file, before, after)
    assert said in papers.problems(folder)
    assert papers.lint(folder) == 1
    assert "papers: " in capsys.readouterr().out


def test_a_page_with_too_many_lines_by_hand_is_found(folder):
    change(folder / "x.md", "after\n", "after\n" * papers.MAX_BY_HAND)
    assert [found for found in papers.problems(folder) if "lines by hand, at most 60" in found]
    (folder / "x.md").rename(folder / papers.COVERAGE)
    assert papers.problems(folder) == []


def test_a_scenario_without_numbers_is_found(folder):
    (folder / "x-two.yaml").write_text(SCENARIO, encoding="utf-8")
    assert papers.problems(folder) == ["numbers.toml: x-two: no numbers of it"]


@pytest.mark.parametrize("text", ["x = ", "[x]\nseeds = 0\nnumbers = [1]\n", "[x]\nseeds = 1\nnumbers = []\n",
                                  '[x]\nseeds = 1\nnumbers = [{what = "a"}]\n',
                                  '[x]\nseeds = 1\nnumbers = [{what = "a", column = "b", pick = "all"}]\n',
                                  '[x]\nseeds = 1\nnumbers = [{what = "a", column = "b", colour = "red"}]\n',
                                  '[x]\nseeds = 1\nnumbers = [{what = "a", column = "b"}, {what = "a", column = "c"}]\n'])
def test_what_is_no_list_of_numbers_is_refused(folder, text):
    (folder / "numbers.toml").write_text(text, encoding="utf-8")
    assert papers.lint(folder) == 1


def test_fewer_seeds_than_asked_for_are_a_warning(folder, capsys):
    rows = [dataclasses.replace(row, seeds=1) for row in papers.read_record(folder)]
    papers.write_record(rows, folder)
    page = papers.with_numbers((folder / "x.md").read_text(encoding="utf-8"), rows, papers.asked(folder))
    (folder / "x.md").write_text(page, encoding="utf-8")
    assert papers.lint(folder) == 0
    assert "warning: x-one: 1 seeds, numbers.toml asks for 2" in capsys.readouterr().out


def left_out(record, asked_for):
    """(runs that were made, those of them that are not where the other seeds of their number have a single run)."""
    made = outside = 0
    for row in record:
        asked = {number["what"]: number for number in asked_for[row.experiment]["numbers"]}[row.what]
        for values in (of for _, of in json.loads(row.values) if len(set(of)) > 2 and len(of) > 4):
            for place, value in enumerate(values):
                least, most, _ = papers.printed_bounds(values[:place] + values[place + 1:], asked)
                made += 1
                outside += not least <= value <= most
    return made, outside


def test_one_run_in_twenty_is_outside_of_what_the_others_say():
    made, outside = left_out(papers.read_record(), papers.asked())
    assert made > 2000
    assert 0.04 < outside / made < 0.065, "else the interval of a single run is not one of 95 %"


def test_those_of_the_repository_agree():
    assert papers.problems() == []
