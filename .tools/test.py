#!/usr/bin/python3
"""Builds and runs every test this machine can run; the last line says how many passed, failed and were skipped.

Unit and simulation tests are GoogleTest binaries under ctest, e2e is pytest (as root, in network namespaces), fuzz
targets run for a bounded time. Each GoogleTest case, pytest case and fuzz target counts as one."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
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
# Most Python tests wait most of the time, so several run at once, each file's by one worker and in a lab of its own. What
# asks for a rate, a delay or a share of the processor has the machine to itself afterwards.
TURNS = {
    "side by side": ["-m", "not real_time", "-n", str(JOBS), "--dist", "loadfile"],
    "one by one": ["-m", "real_time"],
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


def run_ctest(preset):
    heading(f"unit and simulation tests ({preset})")
    directory = ROOT / "build" / preset
    results = directory / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    summary = results / "ctest-summary.xml"
    environment = dict(os.environ, GTEST_OUTPUT=f"xml:{results}/", GTEST_BRIEF="1", **SANITIZER_OPTIONS)
    command = ["ctest", "--test-dir", directory, "-j", str(JOBS), "--timeout", str(CTEST_TIMEOUT.get(preset, 600)),
               "--output-junit", summary, "--no-tests=error"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as run:
        output = show_progress(run.stdout)
    if not summary.is_file():
        return failure(f"ctest ({preset}) ended with {run.returncode} and no report", output)
    tally = Tally()
    for case in ElementTree.parse(summary).iter("testcase"):
        tally.add(gtest_binary(case, results))
    if preset == "release":
        for label, test in requirements.unproven(results):
            tally.add(failure(f"{label} is not proven: {test} did not pass ({requirements.TABLE})"))
    else:
        tally.failed = [(f"{preset}: {name}", message) for name, message in tally.failed]
        tally.skipped = [(f"{preset}: {name}", reason) for name, reason in tally.skipped]
    return tally


def findings(folder):
    """What the sanitizers wrote about programs that pytest ran, whether or not a test saw them end."""
    tally = Tally()
    for file in sorted(folder.glob("report.*")):
        tally.add(failure(f"a program's fault, {file.relative_to(ROOT)}", file.read_text(errors="replace")))
    return tally


def run_pytest(preset="release"):
    """The tests that are Python's, with the programs of a preset; of a sanitized one those that run programs."""
    heading(f"end to end tests (network namespaces, {preset})")
    folders = ["tests/lint", "tests/lab", "tests/e2e"] if preset == "release" else ["tests/e2e"]
    reports = ROOT / "build" / preset / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    # Programs write what is found to a file of their own: some tests end them, and never see what they said.
    sanitizers = {name: f"{value}:log_path={reports}/report" for name, value in SANITIZER_OPTIONS.items()}
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", SLUICE_BUILD=str(ROOT / "build" / preset), **sanitizers)
    # What failed stands in the report, and at the end of everything.
    options = ["-p", "no:cacheprovider", "--tb=short", "--no-header", "--no-summary", "-o", "junit_logging=all",
               "-o", "junit_log_passing_tests=false"]
    tally = Tally()
    for name, selected in TURNS.items():
        report = ROOT / "build" / preset / f"pytest {name}.xml"
        report.unlink(missing_ok=True)
        run = subprocess.run(["/usr/bin/python3", "-m", "pytest", *options, f"--junitxml={report}", *selected, *folders],
                             cwd=ROOT, env=environment, check=False)
        if not report.is_file():
            tally.add(failure(f"pytest ended with {run.returncode} and no report ({name}, {preset})"))
            continue
        prefix = "" if preset == "release" else f"{preset}: "
        tally.add(read_cases(report, prefix, lambda c: f"{c.get('classname')}.{c.get('name')}"))
        if run.returncode not in (0, 1):
            tally.add(failure(f"pytest ended with {run.returncode} ({name}, {preset})"))
    tally.add(findings(reports))
    return tally


def fuzz_one(target, seconds):
    """Runs one libFuzzer target over its corpus; what it finds stays in build/fuzz/found."""
    corpus = ROOT / "build/fuzz/corpus" / target.name
    found = ROOT / "build/fuzz/found"
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    # A target fuzz_NAME finds its seeds under NAME or under its whole name.
    seeds = [s for s in (ROOT / "tests/fuzz/corpus" / n for n in {target.name, target.name.removeprefix("fuzz_")})
             if s.is_dir()]
    run = subprocess.run([target, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=2048",
                          f"-artifact_prefix={found}/{target.name}-", "-print_final_stats=1", corpus, *seeds],
                         env=dict(os.environ, **SANITIZER_OPTIONS), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", check=False)
    return target.name, run.returncode, run.stdout


class IdleBuild:
    """Builds a preset beside what else runs, with what that leaves of the processors (SCHED_IDLE)."""

    def __init__(self, preset):
        self._preset = preset
        self._log = ROOT / f"build/{preset}.idle.log"
        with self._log.open("w", encoding="utf-8") as log:
            self._run = subprocess.Popen(["chrt", "--idle", "0", ROOT / "run", "build", preset], stdout=log,
                                         stderr=subprocess.STDOUT)

    def finish(self):
        """Whether it succeeded."""
        done = self._run.wait() == 0
        if not done:
            print(self._log.read_text(encoding="utf-8", errors="replace")[-4000:], flush=True)
        return done


def run_fuzz(seconds, begun=None):
    if not shutil.which("clang++-14"):
        return Tally(skipped=[("fuzz targets", "clang++-14 is not installed")])
    heading("build fuzz")
    if not (begun.finish() if begun else build("fuzz")):
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
    parser.add_argument("--full", action="store_true", help="also everything but fuzzing under the sanitizers")
    parser.add_argument("--fast", action="store_true", help="unit and simulation tests only")
    parser.add_argument("--only", choices=("unit", "e2e", "fuzz"), help="one kind of test")
    parser.add_argument("--fuzz-seconds", type=int, default=10, metavar="N")
    args = parser.parse_args()
    kinds = [args.only] if args.only else ["unit"] if args.fast else ["unit", "e2e", "fuzz"]

    begin = time.monotonic()
    total = Tally()
    if kinds != ["fuzz"] and not build("release"):
        total.add(failure("build of the release preset"))
        kinds = []
    if "unit" in kinds:
        total.add(run_ctest("release"))
    begun = None
    if "e2e" in kinds:
        # These tests leave part of the processors.
        if "fuzz" in kinds and shutil.which("clang++-14") and shutil.which("chrt"):
            begun = IdleBuild("fuzz")
        total.add(run_pytest())
    for preset in SANITIZED if args.full and kinds != ["fuzz"] else ():
        if not build(preset):
            total.add(failure(f"build of the {preset} preset"))
            continue
        if "unit" in kinds:
            total.add(run_ctest(preset))
        if "e2e" in kinds:
            total.add(run_pytest(preset))
    if "fuzz" in kinds:
        total.add(run_fuzz(args.fuzz_seconds, begun))

    show(total)
    print(f"took {time.monotonic() - begin:.0f} s")
    print(total.last_line, flush=True)
    return 1 if total.failed or total.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
