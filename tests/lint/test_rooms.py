"""The way of a segment and of a report through the rooms is counted as .tools/rooms.py says, and is within its limits."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / ".tools" / "rooms.py"
SPEC = importlib.util.spec_from_file_location("rooms", TOOL)
rooms = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(rooms)

SHARD = "proxy/engine/shard/shard.cpp"
CLASSIFIER = "proxy/engine/shard/classifier.cpp"
PARSE = "dataplane/packet/parse.cpp"


def test_a_way_is_its_rooms_with_their_files():
    assert rooms.way_of([SHARD] * 4 + [CLASSIFIER] * 4 + [PARSE] * 5 + [SHARD] * 4) == [
        ("proxy/engine/shard", ["shard.cpp", "classifier.cpp"]),
        ("dataplane/packet", ["parse.cpp"]),
        ("proxy/engine/shard", ["shard.cpp"])]


def test_headers_libraries_and_tests_are_no_rooms():
    others = ["dataplane/packet/packet.hpp", "/usr/include/c++/12/array", "tests/bench/relay_traffic.hpp", "../x.cpp"]
    assert rooms.way_of([SHARD] * 3 + others * 3 + [SHARD] * 3) == [("proxy/engine/shard", ["shard.cpp"])]


def test_three_instructions_are_no_visit():
    assert rooms.way_of([SHARD] * 4 + [PARSE] * 3 + [SHARD] * 4) == [("proxy/engine/shard", ["shard.cpp"])]
    assert len(rooms.way_of([SHARD] * 4 + [PARSE] * 4 + [SHARD] * 4)) == 3


@pytest.mark.skipif(not rooms.BENCH.exists() or shutil.which("gdb") is None, reason="no relay benchmark, or no gdb")
def test_ways_are_within_their_limits():
    run = subprocess.run([sys.executable, TOOL, "--all"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
