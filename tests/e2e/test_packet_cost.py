"""The dearest packets that anybody can send, in instructions, beside an ordinary one: what one packet costs the others
is bounded, whatever it says."""

import shutil
import sys

import pytest
from programs import BUILD, ROOT, sanitizers

sys.path.insert(0, str(ROOT / "tests" / "bench"))
import costs  # noqa: E402

PROGRAM = BUILD / "bench" / "packet_cost"


@pytest.fixture(scope="module")
def measured():
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed: it counts the instructions")
    if sanitizers():
        pytest.skip("instructions are counted in the program as it is delivered")
    if not PROGRAM.is_file():
        pytest.skip(f"{PROGRAM} was not built: ./run build, with valgrind installed")
    return costs.measure(PROGRAM)


def test_no_packet_costs_much_more_than_an_ordinary_one(measured):
    ordinary = measured["ordinary"]
    table = costs.table(measured)
    print("\n" + table)
    dear = [name for name, cost in measured.items() if cost > costs.allowed(name) * ordinary]
    assert not dear, f"too dear: {', '.join(dear)}\n{table}"


def test_a_syn_that_nobody_answers_costs_about_what_an_ordinary_packet_does(measured):
    for name in ("syns_of_new_ues", "syns_of_new_ues_end_to_end"):
        assert measured[name] <= 1.5 * measured["ordinary"], costs.table(measured)
