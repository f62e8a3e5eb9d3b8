#!/usr/bin/python3
"""What one relayed segment costs, split, end to end under a law and forwarded untouched: cycles as the benchmark counts
them, instructions as callgrind does."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/relay_bench"
CALLGRIND_ROUNDS = 300
CASES = {"split": "split (i-tcp): data and ACKs on both legs",
         "journal": "the same with state.file: each segment begins and ends an exposure, which is the worst that can be",
         "regulate": "end to end under a law (clamp, intercept: regulate): data and an ACK for every second segment pass",
         "bypass": "forwarded untouched (bypass): the same packets"}


def number(pattern, text):
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"bench: no {pattern!r} in\n{text}")
    return int(match[1])


def instructions_per_segment(case):
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                          "--toggle-collect=*measured_receive*", BENCH, str(CALLGRIND_ROUNDS), case],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"bench: callgrind ended with {run.returncode}\n{run.stderr[-2000:]}")
    return number(r"Collected : (\d+)", run.stderr) / number(r"relayed segments\s+(\d+)", run.stdout)


def main():
    if not BENCH.is_file():
        sys.exit(f"bench: {BENCH} was not built")
    rounds = sys.argv[1:2] or ["20000"]
    print("One relayed 1448-byte segment, in memory, 1000 active flows, burst 32", flush=True)
    for case, text in CASES.items():
        print(f"\n{text}", flush=True)
        code = subprocess.run([BENCH, *rounds, case], check=False).returncode
        if code:
            return code
        print(f"instructions per relayed segment    {instructions_per_segment(case):.0f} (callgrind)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
