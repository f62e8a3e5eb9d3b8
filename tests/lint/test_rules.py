"""The repository's own lint finds what it is there to find, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("rules", Path(__file__).resolve().parents[2] / ".tools" / "rules.py")
rules = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(rules)


def purity(path, text):
    return [message for _, message in rules.check_purity(path, rules.strip(text))]


def includes(path, text):
    return [message for _, message in rules.check_includes(path, text)]


@pytest.mark.parametrize("code", [
    "auto t = std::chrono::steady_clock::now();", "clock_gettime(CLOCK_MONOTONIC, &t);", "auto t = time(nullptr);",
    "std::random_device seed;", "int x = rand();", "x = __rdtsc();"])
@pytest.mark.parametrize("path", ["dataplane/tcp/rto.cpp", "control/smvs/smvs.cpp", "emulator/cell/cell.cpp", "proxy/engine/shard/shard.cpp"])
def test_clocks_and_random_sources_are_found(path, code):
    assert purity(path, f"void f() {{ {code} }}\n")


@pytest.mark.parametrize("code", [
    "// steady_clock::now() is not read here", 'log("time(nullptr)");', "loop.now();", "Instant time(Instant t);",
    "/* rte_mbuf */", "srtt.time();", "int operand(int);"])
def test_words_in_comments_and_innocent_names_are_not(code):
    assert purity("dataplane/tcp/rto.cpp", code + "\n") == []


def test_device_names_stay_where_they_belong():
    assert purity("dataplane/tcp/output.cpp", "rte_mbuf* m;\n")
    assert purity("dataplane/packet/packet.hpp", "rte_mbuf* m;\n") == []
    assert purity("dataplane/packet/packet.hpp", "rte_eth_rx_burst(0, 0, b, 32);\n")
    assert purity("dataplane/dpdk/port.cpp", "rte_eth_rx_burst(0, 0, b, 32);\n") == []


@pytest.mark.parametrize(("path", "included", "allowed"), [
    ("control/smvs/smvs.cpp", "dataplane/units/time.hpp", True), ("control/smvs/smvs.cpp", "dataplane/packet/packet.hpp", False),
    ("dataplane/flow/flow_table.cpp", "proxy/engine/flow/flow.hpp", False), ("proxy/engine/shard/shard.cpp", "emulator/net/element.hpp", False),
    ("proxy/engine/shard/shard.cpp", "control/smvs/smvs.hpp", True), ("emulator/net/proxy_node.cpp", "proxy/engine/shard/shard.hpp", True),
    ("dataplane/tcp/rto.cpp", "dataplane/dpdk/port.hpp", False), ("proxy/engine/shard/shard.cpp", "shard.hpp", False)])
def test_dependencies_point_one_way(path, included, allowed):
    assert (includes(path, f'#include "{included}"\n') == []) is allowed


def test_long_functions_and_files_are_found():
    body = "  x += 1;\n" * 80
    code = f"namespace a {{\nclass B {{\n public:\n  int small() {{ return 1; }}\n}};\nvoid big() {{\n{body}}}\n}}\n"
    assert list(rules.functions(code)) == [(4, 1), (6, 82)]
    assert [line for line, _ in rules.check_length(code, code)] == [6]
    assert [line for line, _ in rules.check_length("\n" * 600, "")] == [1]


@pytest.mark.parametrize(("path", "included", "allowed"), [
    ("proxy/engine/split/pump.cpp", "proxy/engine/relay/relay.hpp", True),
    ("proxy/engine/relay/relay.cpp", "proxy/engine/split/pump.hpp", False),
    ("proxy/engine/relay/relay.cpp", "proxy/engine/relay/pump.hpp", True),
    ("proxy/engine/shard/shard.cpp", "proxy/ops/http/message.hpp", False),
    ("proxy/ops/http/message.cpp", "proxy/ops/admin/server.hpp", False),
    ("control/ack_based/smooth.cpp", "control/smvs/smvs.hpp", False),
    ("emulator/runtime/run.cpp", "emulator/nodeb/common.hpp", False),
    ("proxy/elsewhere/a.cpp", "proxy/engine/base/side.hpp", True)])
def test_rooms_include_only_rooms_below_them(path, included, allowed):
    assert (includes(path, f'#include "{included}"\n') == []) is allowed


def test_every_room_has_a_place_and_every_place_a_room():
    assert not list(rules.check_order(rules.ROOM_ORDER))
    lacking = dict(rules.check_order(rules.ROOM_ORDER[1:]))
    assert lacking.keys() == {"dataplane/units"}
    assert dict(rules.check_order((("dataplane/nowhere",), *rules.ROOM_ORDER))).keys() == {"dataplane/nowhere"}


CMAKE = {"proxy/CMakeLists.txt": "sluice_library(x\n  SOURCES split/relay.cpp split/more/deep.cpp  # split/comment.cpp\n  HEADERS split/relay.hpp)\n",
         "tests/CMakeLists.txt": "foreach(what known told)\n  sluice_test(${what} SOURCES ${what}_test.cpp)\nendforeach()\n"}


@pytest.mark.parametrize(("path", "named"), [
    ("proxy/split/relay.cpp", True), ("proxy/split/relay.hpp", True), ("proxy/split/more/deep.cpp", True),
    ("proxy/split/forgotten.cpp", False), ("proxy/split/forgotten.hpp", False), ("proxy/split/lay.cpp", False),
    ("proxy/relay.cpp", False), ("proxy/split/comment.cpp", False), ("tests/known_test.cpp", True), ("tests/told_test.cpp", True),
    ("tests/forgotten_test.cpp", False), ("tests/support.hpp", True)])
def test_a_source_that_cmake_does_not_name_is_found(path, named):
    found = [message for _, message in rules.check_built(path, CMAKE.__contains__, CMAKE.__getitem__)]
    assert (found == []) is named
    assert all("CMakeLists.txt" in message for message in found)


TABLE = "| a | `Closing.Known` |\n| b | `Closing.Unknown` |\n| c | `tcp.time_wait` |\n"


def test_rows_without_a_test_and_tests_without_a_row_are_found():
    tests = {"Closing.Known", "Closing.Unlisted", "Shard.Elsewhere"}
    found = list(rules.check_test_tables({"T.md": ("Closing",)}, tests, lambda _: TABLE))
    assert found == [("T.md", 2, "there is no test Closing.Unknown"), ("T.md", 1, "the test Closing.Unlisted has no row")]
