"""The end of `./run test` says what failed and why, in a few lines."""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / ".tools"))
import results  # noqa: E402

GTEST = """<testsuites><testsuite name="Relay">
<testcase name="Carries" status="run" result="completed" classname="Relay"/>
<testcase name="Loses" status="run" result="completed" classname="Relay">
<failure message="short"><![CDATA[relay_test.cpp:12
Expected equality of these values:
  1
  2]]></failure>
<failure message="short"><![CDATA[relay_test.cpp:13
and again]]></failure></testcase>
<testcase name="Off" status="notrun" result="suppressed" classname="Relay"/>
</testsuite></testsuites>"""
PYTEST = """<testsuites><testsuite>
<testcase classname="tests.e2e.test_x" name="test_y"><failure message="assert 1 == 2">test_x.py:3: in test_y
E   assert 1 == 2</failure><system-out>--- Captured Log ---

--- Captured Out ---
utilisation 0.3

--- Captured Err ---
</system-out></testcase>
<testcase classname="tests.e2e.test_x" name="test_z"><error message="failed on setup">no lab</error></testcase>
<testcase classname="tests.e2e.test_x" name="test_s"><skipped message="not  root"/></testcase>
</testsuite></testsuites>"""


def cases(tmp_path, text):
    file = tmp_path / "report.xml"
    file.write_text(text, encoding="utf-8")
    return results.read_cases(file, "", lambda c: f"{c.get('classname')}.{c.get('name')}")


def shown(tally):
    lines = []
    results.show(tally, lines.append)
    return lines


def test_a_failed_googletest_case_says_all_it_said(tmp_path):
    tally = cases(tmp_path, GTEST)
    assert tally.last_line == "1 passed, 1 failed, 1 skipped"
    assert shown(tally) == [
        "skipped Relay.Off: disabled", "FAILED Relay.Loses", "    relay_test.cpp:12",
        "    Expected equality of these values:", "      1", "      2", "    relay_test.cpp:13", "    and again"]


def test_a_failed_pytest_case_says_its_traceback_and_what_it_printed(tmp_path):
    assert shown(cases(tmp_path, PYTEST)) == [
        "skipped tests.e2e.test_x.test_s: not root", "FAILED tests.e2e.test_x.test_y", "    test_x.py:3: in test_y",
        "    E   assert 1 == 2", "    --- Captured Out ---", "    utilisation 0.3", "FAILED tests.e2e.test_x.test_z", "    no lab"]


def test_a_program_that_crashed_says_how_its_output_ended(tmp_path):
    case = ElementTree.fromstring('<testcase name="relay_test" status="fail"><failure message="SEGFAULT"/>'
                                  "<system-out>[ RUN ] Relay.Loses</system-out></testcase>")
    tally = results.gtest_binary(case, tmp_path)
    assert shown(tally) == ["FAILED relay_test (crashed, timed out, or failed outside its cases)", "    SEGFAULT",
                            "    [ RUN ] Relay.Loses"]


def test_long_messages_keep_their_beginning_and_their_end():
    assert results.trimmed("") == []
    text = "\n".join(f"line {i}" for i in range(100))
    lines = results.trimmed(text)
    assert len(lines) == 40
    assert (lines[0], lines[-1]) == ("line 0", "line 99")
    assert "61 lines left out" in lines[20]
    assert results.trimmed("\n".join(["x"] * 40)) == ["x"] * 40


def test_many_failures_share_the_room():
    tally = results.Tally(failed=[(f"t{i}", "line\n" * 100) for i in range(200)])
    assert len(shown(tally)) == 200 * (1 + 6)
