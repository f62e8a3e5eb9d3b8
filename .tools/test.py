#!/usr/bin/python3
"""Builds and runs every test this machine can run; the last line says how many passed, failed and were skipped.

Unit and simulation tests are GoogleTest binaries under ctest, e2e is pytest (as root, in network namespaces). Each
GoogleTest case, pytest case and fuzz target counts as one. The inputs that fuzzing has left are among the unit tests;
fuzzing itself is ./run fuzz, or part of --full."""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True  # nothing appears beside the sources
import requirements  # noqa: E402
from results import Tally, failure, gtest_binary, read_cases, show  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
JOBS = len(os.sched_getaffinity(0))
# A binary that takes longer than this hangs; the sanitizers slow things down.
CTEST_TIMEOUT = {"release": 600, "debug": 1800, "tsan": 1800, "clang": 600}
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    # libxdp loses 80 bytes for each set of buffers that the driver registers with it.
    "LSAN_OPTIONS": f"suppressions={ROOT}/tests/lsan.supp:print_suppressions=0",
    "TSAN_OPTIONS": f"halt_on_error=1:second_deadlock_stack=1:suppressions={ROOT}/tests/tsan.supp:print_suppressions=0",
}
# The presets that --full adds.
SANITIZED = ("debug", "tsan")
# Most Python tests wait most of the time, so more run at once than there are processors, each file's by one worker and in
# a lab of its own. What asks for a rate, a delay or a share of the processor runs afterwards, one at a time: such a test takes
# a third of a processor on average, and more than one for moments.
TURNS = {
    "side by side": ["-m", "not real_time", "-n", str(JOBS + 1), "--dist", "loadfile"],
    "undisturbed": ["-m", "real_time"],
}


def heading(text):
    print(f"== {text}", flush=True)


def build(preset):
    heading(f"build {preset}")
    return subprocess.run([ROOT / "run", "build", preset], check=False).returncode == 0


def show_progress(lines):
    """Passes on one line for each test program that has ended; returns all there was."""
    seen = []
    for line in lines:
        seen.append(line)
        if re.match(r" *\d+/\d+ Test ", line):
            print(line.rstrip(), flush=True)
    return "".join(seen)


def give_way(session):
    """What sessions have of the processors does not depend on how nice their processes are to one another, where Linux
    groups them (sched(7), autogroup)."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{session}/autogroup").write_text("19", encoding="ascii")


class Ctest:
    """A run of ctest: what carries one of the labels. `idle`: it takes what others leave of the processors, until finish()."""

    def __init__(self, preset, labels, idle=False):
        self._name = f"ctest {labels} ({preset})"
        self._results = ROOT / "build" / preset / "results"
        self._summary = self._results / f"ctest {labels.replace('|', ' ')}.xml"
        environment = dict(os.environ, GTEST_OUTPUT=f"xml:{self._results}/", GTEST_BRIEF="1", **SANITIZER_OPTIONS)
        timeout = CTEST_TIMEOUT.get(preset, 600) * (4 if idle else 1)
        command = ["ctest", "--test-dir", ROOT / "build" / preset, "-L", labels, "-j", str(JOBS), "--timeout", str(timeout),
                   "--output-junit", self._summary, "--no-tests=error"]
        # Into a file where nobody reads while it runs: a pipe would fill.
        self._log = tempfile.TemporaryFile("w+", errors="replace") if idle else None
        self._run = subprocess.Popen([*(["chrt", "--idle", "0"] if idle else []), *command], env=environment, text=True,
                                     errors="replace", stdout=self._log or subprocess.PIPE, stderr=subprocess.STDOUT,
                                     start_new_session=idle)
        if idle:
            give_way(self._run.pid)

    def stop(self):
        """Ends it, where something else went wrong."""
        if self._run.poll() is None:
            os.killpg(self._run.pid, signal.SIGTERM)
            self._run.wait()

    def finish(self):
        """What it came to, once it has ended."""
        if self._log:
            self._run.wait()
            self._log.seek(0)
        output = show_progress(self._log or self._run.stdout)
        self._run.wait()
        if not self._summary.is_file():
            return failure(f"{self._name} ended with {self._run.returncode} and no report", output)
        tally = Tally()
        for case in ElementTree.parse(self._summary).iter("testcase"):
            tally.add(gtest_binary(case, self._results))
        return tally


def forget_results(preset):
    results = ROOT / "build" / preset / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()


def unproven(preset):
    """What the requirements ask for must have passed, in programs as they are delivered."""
    tally = Tally()
    if preset == "release":
        for label, test in requirements.unproven(ROOT / "build" / preset / "results"):
            tally.add(failure(f"{label} is not proven: {test} did not pass ({requirements.TABLE})"))
    return tally


def named(preset, tally):
    """The same, with the preset in the names."""
    return Tally(tally.passed, [(f"{preset}: {name}", message) for name, message in tally.failed],
                 [(f"{preset}: {name}", reason) for name, reason in tally.skipped])


def findings(folder):
    """What the sanitizers wrote about programs that pytest ran, whether or not a test saw them end."""
    tally = Tally()
    for file in sorted(folder.glob("report.*")):
        tally.add(failure(f"a program's fault, {file.relative_to(ROOT)}", file.read_text(errors="replace")))
    return tally


class PythonTests:
    """The tests that are Python's, with the programs of a preset; of a sanitized one those that run programs."""

    def __init__(self, preset):
        self._preset = preset
        self._folders = ["tests/lint", "tests/lab", "tests/e2e"] if preset == "release" else ["tests/e2e"]
        self._reports = ROOT / "build" / preset / "reports"
        shutil.rmtree(self._reports, ignore_errors=True)
        self._reports.mkdir(parents=True)
        # Programs write what is found to a file of their own: some tests end them, and never see what they said.
        sanitizers = {name: f"{value}:log_path={self._reports}/report" for name, value in SANITIZER_OPTIONS.items()}
        self._environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", SLUICE_BUILD=str(ROOT / "build" / preset), **sanitizers)

    def run(self, turn):
        """One of the TURNS."""
        heading(f"tests of programs, {turn} (network namespaces, {self._preset})")
        report = ROOT / "build" / self._preset / f"pytest {turn}.xml"
        report.unlink(missing_ok=True)
        # What failed stands in the report, and at the end of everything.
        options = ["-p", "no:cacheprovider", "--tb=short", "--no-header", "--no-summary", "-o", "junit_logging=all",
                   "-o", "junit_log_passing_tests=false"]
        run = subprocess.run(["/usr/bin/python3", "-m", "pytest", *options, f"--junitxml={report}", *TURNS[turn], *self._folders],
                             cwd=ROOT, env=self._environment, check=False)
        if not report.is_file():
            return failure(f"pytest ended with {run.returncode} and no report ({turn})")
        tally = read_cases(report, "", lambda c: f"{c.get('classname')}.{c.get('name')}")
        if run.returncode not in (0, 1):
            tally.add(failure(f"pytest ended with {run.returncode} ({turn})"))
        return tally

    def findings(self):
        return findings(self._reports)


def run_unit(preset):
    heading(f"unit and simulation tests ({preset})")
    forget_results(preset)
    tally = Ctest(preset, "unit|clock|sim").finish()
    tally.add(unproven(preset))
    return tally


def run_programs(preset):
    python = PythonTests(preset)
    tally = Tally()
    for turn in TURNS:
        tally.add(python.run(turn))
    tally.add(python.findings())
    return tally


def run_all(preset):
    """Tests of programs leave part of the processors. Simulations, which have a clock of their own, take it."""
    heading(f"unit tests ({preset})")
    forget_results(preset)
    tally = Ctest(preset, "unit|clock").finish()
    simulations = Ctest(preset, "sim", idle=True)
    try:
        python = PythonTests(preset)
        tally.add(python.run("side by side"))
        heading(f"simulation tests, which ran beside ({preset})")
        tally.add(simulations.finish())
    finally:
        simulations.stop()
    tally.add(unproven(preset))
    tally.add(python.run("undisturbed"))
    tally.add(python.findings())
    return tally


def fuzz_one(target, seconds):
    """Runs one libFuzzer target over its corpus; what it finds stays in build/fuzz/found."""
    corpus = ROOT / "build/fuzz/corpus" / target.name
    found = ROOT / "build/fuzz/found"
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    run = subprocess.run([target, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
                          f"-artifact_prefix={found}/{target.name}-", "-print_final_stats=1", corpus, ROOT / "tests/fuzz/corpus" / target.name],
                         env=dict(os.environ, **SANITIZER_OPTIONS), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    return target.name, run.returncode, run.stdout


def run_fuzz(seconds):
    if not shutil.which("clang++-14"):
        return Tally(skipped=[("fuzz targets", "clang++-14 is not installed")])
    if not build("fuzz"):
        return failure("build of the fuzz targets")
    heading(f"fuzz targets, {seconds} s each")
    targets = sorted(p for p in (ROOT / "build/fuzz/fuzz").glob("*") if p.is_file() and os.access(p, os.X_OK))
    tally = Tally()
    with ThreadPoolExecutor(JOBS) as pool:
        for name, code, output in pool.map(lambda t: fuzz_one(t, seconds), targets):
            executed = [line.split()[-1] for line in output.splitlines() if "number_of_executed_units" in line]
            print(f"{name}: {'ok' if code == 0 else 'FAILED'}, {executed[0] if executed else '?'} inputs", flush=True)
            if code == 0:
                tally.passed += 1
            else:
                tally.add(failure(f"{name} (its input is in build/fuzz/found)", output))
    return tally


def default_signals():
    """Ctrl-C and Ctrl-\\ do what they always do in the programs that tests start. A script that runs this in the background
    has both ignored, which programs inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def main():
    default_signals()
    parser = argparse.ArgumentParser(prog="./run test")
    parser.add_argument("--full", action="store_true", help="also under the sanitizers, and fuzzing")
    parser.add_argument("--fast", action="store_true", help="unit and simulation tests only")
    parser.add_argument("--only", choices=("unit", "e2e", "fuzz"), help="one kind of test")
    parser.add_argument("--fuzz-seconds", type=int, default=10, metavar="N")
    args = parser.parse_args()
    kind = "unit" if args.fast else args.only
    run = {"unit": run_unit, "e2e": run_programs, None: run_all}.get(kind)

    begin = time.monotonic()
    total = Tally()
    for preset in ("release", *SANITIZED) if args.full else ("release",):
        if run is None:
            break
        if not build(preset):
            total.add(failure(f"build of the {preset} preset"))
            continue
        tally = run(preset)
        total.add(tally if preset == "release" else named(preset, tally))
    if kind == "fuzz" or (args.full and kind is None):
        total.add(run_fuzz(args.fuzz_seconds))

    show(total)
    print(f"took {time.monotonic() - begin:.0f} s")
    print(total.last_line, flush=True)
    return 1 if total.failed or total.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
