"""The table of requirements names what exists, and its check finds what does not."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("requirements", ROOT / ".tools" / "requirements.py")
requirements = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = requirements
SPEC.loader.exec_module(requirements)

HEADER = "| label | requirement | source | tests |\n| --- | --- | --- | --- |\n"


def problems(line, tests=frozenset({"Suite.Case"})):
    found, errors = requirements.rows(HEADER + line + "\n")
    messages = [message for _, message in [*errors, *requirements.check(found, ROOT, tests)]]
    return [message for message in messages if "has no row" not in message]


def test_the_table_of_this_repository_holds():
    assert requirements.main() == 0


def test_a_row_with_its_source_and_its_test_is_good():
    assert problems("| X-1 | something | rto.cpp, dataplane/packet/build.cpp | Suite.Case |") == []


def test_a_reason_stands_for_both():
    assert problems("| X-1 | something | not applicable: nobody asks | |") == []
    assert problems("| X-1 | something | rto.cpp | not done: later |") == []


def test_what_does_not_exist_is_found():
    assert problems("| X-1 | something | nothing.cpp | Suite.Case |") == ["X-1: there is no dataplane/tcp/nothing.cpp"]
    assert problems("| X-1 | something | rto.cpp | Suite.Other |") == ["X-1: there is no test Suite.Other"]
    assert problems("| X-1 | something | rto.cpp | |") == ["X-1 names no source or no test, and no reason"]


def test_a_requirement_without_a_row_is_found():
    found, _ = requirements.rows(HEADER + "| MUST-1 | something | rto.cpp | Suite.Case |\n")
    messages = [message for _, message in requirements.check(found, ROOT, {"Suite.Case"})]
    assert "MUST-2 of RFC 9293 has no row" in messages
    assert "MUST-1 of RFC 9293 has no row" not in messages


def test_only_a_test_that_ran_and_passed_is_a_proof(tmp_path):
    (tmp_path / "dataplane/tcp").mkdir(parents=True)
    table = "".join(f"| X | something | rto.cpp | {name} |\n" for name in ("A.Passed", "A.Failed", "A.Skipped", "A.Absent", "P.Some"))
    (tmp_path / requirements.TABLE).write_text(HEADER + table, encoding="utf-8")
    (tmp_path / "one.xml").write_text(
        '<testsuites><testsuite name="A">'
        '<testcase name="Passed" result="completed" classname="A"/>'
        '<testcase name="Failed" result="completed" classname="A"><failure message="no"/></testcase>'
        '<testcase name="Skipped" result="skipped" classname="A"/></testsuite>'
        '<testsuite name="All/P"><testcase name="Some/0" result="completed" classname="All/P"/>'
        '<testcase name="Some/1" result="completed" classname="All/P"><failure message="no"/></testcase></testsuite></testsuites>',
        encoding="utf-8")
    assert [test for _, test in requirements.unproven(tmp_path, tmp_path)] == ["A.Failed", "A.Skipped", "A.Absent", "P.Some"]
