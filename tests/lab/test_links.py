"""What the family of links makes of its measurements: worth, goal, and the choice that leaves one out."""

import dataclasses
import io

import links
from links import Link, Measured, Outcome


def measured(ideal, scale_ms=20, **by_setting):
    return Measured(Link("a link", "a"), scale_ms, Outcome(*ideal), {name: Outcome(*each) for name, each in by_setting.items()}, [])


def test_worth_counts_delay_on_the_links_own_scale():
    assert links.worth(Outcome(95, 40), 20) == 91
    assert links.worth(Outcome(95, 40), 80) == 94


def test_a_link_misses_by_use_or_by_delay_where_the_ideal_uses_it():
    ideal = Outcome(96, 50)
    assert not links.misses(Outcome(93, 65), ideal)
    assert links.misses(Outcome(92.9, 50), ideal)
    assert links.misses(Outcome(99, 65.1), ideal)
    assert not links.misses(Outcome(50, 500), Outcome(94.9, 50))


def test_a_setting_with_fewer_links_that_miss_comes_first_then_the_worth():
    first = measured((97, 50), a=(92, 20), b=(93, 60))
    assert links.choose([first]) == "b", "a is worth more and misses"
    assert links.choose([measured((97, 50), a=(95, 50), b=(95, 40))]) == "b"
    assert links.choose([measured((97, 50), a=(95, 50), b=(95, 50))]) == "a", "of equal ones the first"


def test_each_link_is_judged_by_what_is_best_on_the_others():
    odd = measured((97, 50), a=(90, 40), b=(95, 50))
    even = measured((97, 50), a=(96, 50), b=(90, 50))
    assert links.left_out([odd, even, even]) == ["a", "a", "a"]
    assert links.left_out([odd, odd, odd, even]) == ["b", "b", "b", "b"]
    assert links.left_out([odd, even]) == ["a", "b"]


def test_the_ideal_is_the_best_row_of_its_grid():
    text = "use,p95_ms,scale_ms\n90.00,10,20.0\n99.00,60,20.0\n99.50,200,20.0\n"
    assert links.ideal_of(text) == (20.0, Outcome(99, 60), [Outcome(90, 10), Outcome(99, 60), Outcome(99.5, 200)])


def test_what_the_ideal_has_at_no_more_delay():
    outcomes = [Outcome(90, 10), Outcome(99, 60), Outcome(98, 50)]
    assert links.within(outcomes, 59) == 98
    assert links.within(outcomes, 9) is None


def test_the_ideals_one_setting_is_the_best_on_all_links_that_are_judged():
    first = Measured(Link("a", "a"), 20, Outcome(97, 50), {}, [Outcome(97, 50), Outcome(94, 60)])
    other = Measured(Link("b", "b"), 20, Outcome(97, 50), {}, [Outcome(92, 10), Outcome(93, 65)])
    idle = Measured(Link("c", "c"), 20, Outcome(94, 50), {}, [Outcome(94, 50), Outcome(1, 900)])
    assert links.common_ideal([first, other, idle]) == 1
    assert links.common_ideal([first, first, idle]) == 0


def test_what_misses_is_told_with_the_goal_and_the_ideals_number():
    link = Measured(Link("a", "a"), 20, Outcome(97, 50), {"default": Outcome(90, 50), "b": Outcome(95, 50)}, [Outcome(94, 60)])
    assert links.verdict_of(link, ("default", "b"), 0) == "default: not 93 % at 65 ms; the ideal with one setting has 94.0 %, 60 ms"
    assert links.verdict_of(link, ("b", "b"), 0) == ""
    assert links.verdict_of(dataclasses.replace(link, ideal=Outcome(94, 50)), ("default",), 0) == "not judged"


def test_the_ideals_settings_are_told_in_words():
    text = "memory_ms,reference_ms,longest_ms,gain,use,p95_ms,scale_ms\n80,10,60,1.05,99.00,60,20.0\n"
    assert links.grid_of(text) == ["memory 80 ms, reference 0.5 of the link's scale, without news for 60 ms, gain 1.05"]


def test_what_is_only_measured_beside_is_not_chosen():
    beside = next(iter(links.BESIDE))
    assert links.choose([measured((97, 50), default=(90, 50), **{beside: (97, 50)})]) == "default"


def test_the_family_is_the_same_each_time_and_spans_its_ranges():
    family = [links.generated(number, 60) for number in range(1, links.GENERATED + 1)]
    assert family == [links.generated(number, 60) for number in range(1, links.GENERATED + 1)]
    assert family[0].generate[5] == "0.3000"
    assert family[-1].generate[5] == "300.0000"
    assert {link.round_trip_ms for link in family} == {10, 20, 40, 80, 150}
    assert {link.tti_ms for link in family} == {1, 2, 5, 10}
    assert 10 <= sum(link.scheduled for link in family) <= 26


def test_recorded_links_that_are_not_there_are_named(capsys, tmp_path):
    (tmp_path / links.RECORDED[0]).write_text("1\n", encoding="utf-8")
    family = links.family(60, tmp_path)
    assert [link.name for link in family[links.GENERATED:]] == [links.RECORDED[0]] * 2
    said = capsys.readouterr().err
    assert all(name in said for name in links.RECORDED[1:])


def test_every_run_is_in_the_csv_and_a_link_that_misses_is_told():
    runs = {name: Outcome(90, 20) for name in (*links.SETTINGS, *links.BESIDE)}
    link = Measured(Link("slow", "a"), 20, Outcome(97, 50), runs, [Outcome(91.2, 20)], ["the only one"])
    table, sheet = io.StringIO(), io.StringIO()
    links.report([link, link], table)
    links.write_csv(sheet, [link, link])
    assert ("| slow | 1 ms, 20 ms, free | 97.0 %, 50 ms | 90.0 %, 20 ms | 91.2 % | 90.0 %, 20 ms "
            "| default: not 93 % at 65 ms; the ideal with one setting has 91.2 %, 20 ms, nor that |") in table.getvalue()
    assert ("2 miss the goal. The default was chosen 2 times. An ideal sender with one setting for all of them misses 2 (the only one)."
            in table.getvalue())
    assert len(sheet.getvalue().splitlines()) == 1 + 2 * (1 + len(runs))
