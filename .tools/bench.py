#!/usr/bin/python3
"""What one relayed segment costs, split, end to end under a law and forwarded untouched: cycles as the benchmark counts
them, instructions as callgrind does.

    bench.py [ROUNDS]            prints them
    bench.py --record [REASON]   adds what does not depend on the machine to tests/bench/record.csv; REASON says why
                                 more than before is accepted"""

import re
import subprocess
import sys
from pathlib import Path

import record

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/relay_bench"
CALLGRIND_ROUNDS = 300
CASES = {"split": "split (i-tcp): data and ACKs on both legs",
         "journal": "the same with state.file: each segment begins and ends an exposure, which is the worst that can be",
         "unexposed": "the same with limits.exposure_per_flow: 0B: nothing is acknowledged before the UE has",
         "regulate": "end to end under a law (clamp, intercept: regulate): data and an ACK for every second segment pass",
         "bypass": "forwarded untouched (bypass): the same packets"}


def number(pattern, text):
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"bench: no {pattern!r} in\n{text}")
    return int(match[1])


def measured(case):
    """Instructions per relayed segment under callgrind, and what the benchmark printed."""
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                          "--toggle-collect=*measured_receive*", BENCH, str(CALLGRIND_ROUNDS), case],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"bench: callgrind ended with {run.returncode}\n{run.stderr[-2000:]}")
    return number(r"Collected : (\d+)", run.stderr) / number(r"relayed segments\s+(\d+)", run.stdout), run.stdout


def record_now(reason):
    """One row of the record. What is measured must be what the commit holds."""
    changed = subprocess.run(["git", "status", "--porcelain", "--untracked-files=no"], cwd=ROOT, capture_output=True,
                             text=True, check=True).stdout.splitlines()
    if any(not line.endswith((record.FILE.name, record.FIGURES_PAGE.name)) for line in changed):
        sys.exit("bench: commit first what is to be measured")
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                            check=True).stdout.strip()
    split, printed = measured("split")
    row = record.Row.of_today(commit, split=split, regulated=measured("regulate")[0], untouched=measured("bypass")[0],
                              pair_bytes=number(r"bytes per idle connection pair\s+(\d+)", printed), reason=reason)
    record.append(row)
    page = record.FIGURES_PAGE.read_text(encoding="utf-8")
    record.FIGURES_PAGE.write_text(record.with_figures(page, row), encoding="utf-8")
    print(row)
    return record.main()


def main():
    if not BENCH.is_file():
        sys.exit(f"bench: {BENCH} was not built")
    if sys.argv[1:2] == ["--record"]:
        return record_now(" ".join(sys.argv[2:]))
    rounds = sys.argv[1:2] or ["20000"]
    print("One relayed 1448-byte segment, in memory, 1000 active flows, burst 32", flush=True)
    for case, text in CASES.items():
        print(f"\n{text}", flush=True)
        code = subprocess.run([BENCH, *rounds, case], check=False).returncode
        if code:
            return code
        print(f"instructions per relayed segment    {measured(case)[0]:.0f} (callgrind)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
