"""What a hypervisor took of the processors, by the kernel's count."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
import processors  # noqa: E402

BEFORE = "cpu  100 0 50 800 10 0 5 35 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
AFTER = "cpu  130 0 60 840 10 0 5 55 7 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"


def test_what_was_taken_is_a_share_of_all_time():
    before, after = processors.times(BEFORE), processors.times(AFTER)
    assert before == (35, 1000), "what guests of this machine took is part of other times"
    assert processors.taken(before, after) == 20 / 100
    assert processors.taken(after, after) == 0


def test_this_machine_counts():
    taken, everything = processors.times()
    assert 0 <= taken <= everything > 0
