"""./run mutants: which lines change into what, and what becomes of the mutants of a tiny tree."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("mutants", ROOT / ".tools" / "mutants.py")
sys.path.insert(0, str(ROOT / ".tools"))
mutants = importlib.util.module_from_spec(SPEC)
sys.modules["mutants"] = mutants  # dataclasses look there
SPEC.loader.exec_module(mutants)

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(tiny CXX)
enable_testing()
add_custom_target(unit_and_simulation_tests)
foreach(name sum other)
  add_executable(${name}_test tests/${name}.cpp)
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name}_test COMMAND ${name}_test)
  add_dependencies(unit_and_simulation_tests ${name}_test)
endforeach()
"""
PRESETS = """{"version": 3, "configurePresets": [
  {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}]}"""
SUM = """#pragma once
inline int sum(int up_to) {
  int total = 0;
  for (int i = 1; i <= up_to; ++i) {
    total += i;
  }
  return total;
}
inline bool is_small(int value) {
  return value < 10;
}
"""
TEST = """#include "proxy/sum.hpp"
int main() { return sum(4) == 10 && is_small(3) && !is_small(30) ? 0 : 1; }
"""
# It does not read sum.hpp, so none of its mutants runs it.
OTHER = """#include <cstdlib>
int main() { return std::getenv("NOBODY_SETS_THIS") != nullptr; }
"""


def code(line, before=""):
    return mutants.mutations(line, mutants.rules.strip(line), before)


def test_operators_constants_and_statements_change():
    assert code("  if (a < b && !c) {") == ["  if (a <= b && !c) {", "  if (a < b || !c) {", "  if (a < b && c) {"]
    assert code("  return a + 10;") == ["  return a - 10;", "  return a + 11;", "  return a + 9;", "  return {};"]
    assert code("  x = std::min(y, z);", "{") == ["  x = std::max(y, z);", "  ;"]
    assert code("  bool on = true;") == ["  bool on = false;"]
    assert code("  return false;") == ["  return true;"], "{} is false, too"
    assert code("  ++count;", "{")[0] == "  --count;"
    assert code("  parts_.counters.add(Counter::a);", "  begin();") == ["  ;"]


def test_what_is_no_code_stays():
    for line in ("  // a < b", '  "a < b"', "#include <vector>", "  std::vector<int> all;", "  int* at;", "  Foo&& other);",
                 "using a = b;", "template <int N = 4>", "  static_assert(a == 4);", "  X(name, 4) \\", "  Foo foo(bar);",
                 "  return {};", "  return nullptr;", "  return std::nullopt;", "  0x10", "  a1", "  1.5"):
        assert code(line) == [], line
    for line in ("  bearer(ids[i + 1]).prefetch();", "  __builtin_prefetch(&newest_, 1);", "  if (a < b) flow::prefetch_all(*a);"):
        assert code(line, "{") == [], line


def test_the_end_of_a_longer_statement_is_not_dropped():
    assert code("      call(a);", "  const auto b = c ?") == []
    assert code("      call(a);", "  if (c)") == ["      ;"]


def test_a_seed_draws_the_same_and_leaves_equivalent_ones_out():
    sites = {("proxy/a.cpp", n): (f"  if (a < {name}) {{", [f"  if (a <= {name}) {{"]) for n, name in enumerate("bcdefgh", 1)}
    first, skipped = mutants.draw(sites, 4, 7, set())
    assert (first, skipped) == mutants.draw(sites, 4, 7, set())
    assert len({mutant.line for mutant in first}) == 4 and skipped == 0
    known = {(mutant.file, mutant.before.strip(), mutant.after.strip()) for mutant in first}
    others, skipped = mutants.draw(sites, 4, 7, known)
    assert skipped == 4 and not set(first) & set(others) and len(others) == 3


def test_the_list_of_equivalent_ones_fits_the_sources():
    assert mutants.stale(ROOT) == []


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """A repository with one header of the product, a test program that reads it and one that does not."""
    root = tmp_path / "tiny"
    for name, text in {"CMakeLists.txt": CMAKE, "CMakePresets.json": PRESETS, "proxy/sum.hpp": SUM, "tests/sum.cpp": TEST,
                       "tests/other.cpp": OTHER, ".gitignore": "build/\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / ".tools").mkdir()
    for name in ("mutants.py", "rules.py"):
        shutil.copy(ROOT / ".tools" / name, root / ".tools" / name)
    git(root, "init", "-q")
    commit(root)
    return root


def git(root, *arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=root, check=True, capture_output=True)


def commit(root):
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "tiny")


def run(root, *arguments):
    return subprocess.run([sys.executable, root / ".tools" / "mutants.py", *arguments], cwd=root, capture_output=True, text=True,
                          timeout=300, check=False)


def left(root):
    return list((root / "build").glob("mutants-*")) if (root / "build").exists() else []


def test_mutants_of_a_tiny_tree_are_noticed_or_named(tree, monkeypatch):
    monkeypatch.setattr(mutants, "LEAST_SECONDS", 1)
    made = {"  int total = 1;": "noticed", "  return value <= 10;": "survived", "  return nothing;": "did not compile",
            "  for (int i = 1; i <= up_to; --i) {": "timed out"}
    before = SUM.splitlines()
    numbers = {"  int total = 1;": 3, "  return value <= 10;": 10, "  return nothing;": 7,
               "  for (int i = 1; i <= up_to; --i) {": 4}
    drawn = [mutants.Mutant("proxy/sum.hpp", numbers[line], before[numbers[line] - 1], line) for line in made]
    with mutants.Copy(tree, 2) as copy:
        copy.build_tests()
        for mutant in drawn:
            assert copy.dependents(mutant) == ["tests/sum_test"]
            name, by = mutants.outcome(copy, mutant)
            assert name == made[mutant.after]
            assert by == ("sum_test" if name in ("noticed", "timed out") else "")
    assert left(tree) == []


def test_only_time_without_work_counts_as_waiting():
    for work, code in {"while time.monotonic() < end: pass": 0, "time.sleep(60)": None}.items():
        process = subprocess.Popen([sys.executable, "-c", f"import time\nend = time.monotonic() + 4\n{work}"],
                                   start_new_session=True)
        try:
            assert mutants.result_of(process, 2) == code, work
        finally:
            process.kill()
            process.wait()


def test_programs_that_include_the_folder_run_first_and_short_ones_before_long_ones(tree):
    (tree / "control").mkdir()
    (tree / "control/far.hpp").write_text('#pragma once\n#include "proxy/sum.hpp"\n', encoding="utf-8")
    (tree / "tests/support.hpp").write_text('#pragma once\n#include "proxy/sum.hpp"\n', encoding="utf-8")
    (tree / "tests/far.cpp").write_text(TEST.replace("proxy/sum.hpp", "control/far.hpp"), encoding="utf-8")
    (tree / "tests/slow.cpp").write_text(TEST.replace("proxy/sum.hpp", "tests/support.hpp"), encoding="utf-8")
    (tree / "CMakeLists.txt").write_text(CMAKE.replace("sum other", "sum other far slow"), encoding="utf-8")
    commit(tree)
    measured = tree / "build/release" / mutants.COSTS
    measured.parent.mkdir(parents=True)
    measured.write_text("far_test 3 0.1\nslow_test 3 9.5\nsum_test 3 2.5\n---\n", encoding="utf-8")
    with mutants.Copy(tree, 2) as copy:
        copy.build_tests()
        mutant = mutants.Mutant("proxy/sum.hpp", 3, SUM.splitlines()[2], "  int total = 1;")
        assert copy.dependents(mutant) == ["tests/sum_test", "tests/slow_test", "tests/far_test"]


def test_the_whole_run_reports_and_leaves_nothing(tree):
    ended = run(tree, "--count", "3", "--seed", "2", "proxy")
    assert re.search(r"mutants: \d of \d noticed, [\d.]+ %", ended.stdout), ended.stdout + ended.stderr
    assert ended.returncode == (1 if "survived:" in ended.stdout else 0)
    assert left(tree) == []
    assert (tree / "proxy/sum.hpp").read_text(encoding="utf-8") == SUM


def test_programs_can_be_left_out(tree):
    ended = run(tree, "--count", "2", "--seed", "2", "--programs", "^other", "proxy")
    assert "mutants: 0 of 2 noticed, 0.0 %" in ended.stdout and "match ^other" in ended.stdout, ended.stdout + ended.stderr


def test_without_a_mount_namespace_the_copy_is_built(tree, monkeypatch):
    monkeypatch.setenv("PATH", f"{tree.parent}/bin:{os.environ['PATH']}")
    (tree.parent / "bin").mkdir()
    (tree.parent / "bin" / "unshare").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    (tree.parent / "bin" / "unshare").chmod(0o755)
    ended = run(tree, "--count", "2", "--seed", "2", "proxy")
    assert re.search(r"mutants: \d of \d noticed", ended.stdout), ended.stdout + ended.stderr
    assert not (tree / "build" / "release").exists()
    assert left(tree) == []


def test_a_tree_with_changes_is_refused(tree):
    (tree / "proxy/sum.hpp").write_text(SUM + "// more\n", encoding="utf-8")
    ended = run(tree, "proxy")
    assert ended.returncode == 1 and "not clean" in ended.stderr and "proxy/sum.hpp" in ended.stderr


def test_folders_that_are_no_product_are_refused(tree):
    for folder in ("tests", "proxy/nothing", "../proxy"):
        assert run(tree, folder).returncode == 2, folder


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_remains_of_a_run_that_is_interrupted(tree, number):
    process = subprocess.Popen([sys.executable, tree / ".tools" / "mutants.py", "--count", "5", "proxy"], cwd=tree,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not left(tree) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, number)
    assert process.wait(60) in (130, 143)
    assert left(tree) == []


def test_what_a_killed_run_left_is_removed_by_the_next(tree):
    abandoned = tree / "build" / "mutants-999999999-x"
    abandoned.mkdir(parents=True)
    with mutants.Copy(tree, 1):
        assert len(left(tree)) == 1
    assert not abandoned.exists()


def test_help_says_what_it_does():
    shown = subprocess.run([ROOT / "run", "mutants", "--help"], capture_output=True, text=True, check=True).stdout
    assert "--seed" in shown and "It is removed at the end" in " ".join(shown.split())
