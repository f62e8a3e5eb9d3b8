#!/usr/bin/python3
"""What one relayed segment costs: cycles as the benchmark counts them, instructions as callgrind does."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/relay_bench"
CALLGRIND_ROUNDS = 300


def number(pattern, text):
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"bench: no {pattern!r} in\n{text}")
    return int(match[1])


def instructions_per_segment():
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                          "--toggle-collect=*measured_receive*", BENCH, str(CALLGRIND_ROUNDS)],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"bench: callgrind ended with {run.returncode}\n{run.stderr[-2000:]}")
    return number(r"Collected : (\d+)", run.stderr) / number(r"relayed segments\s+(\d+)", run.stdout)


def main():
    if not BENCH.is_file():
        sys.exit(f"bench: {BENCH} was not built")
    print("One relayed 1448-byte segment: data and ACKs on both legs, in memory, 1000 active flows, burst 32", flush=True)
    code = subprocess.run([BENCH, *sys.argv[1:]], check=False).returncode
    if code:
        return code
    print(f"instructions per relayed segment    {instructions_per_segment():.0f} (callgrind)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
