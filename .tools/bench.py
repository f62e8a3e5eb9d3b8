#!/usr/bin/python3
"""What one relayed segment costs, split, end to end under a law and forwarded untouched, timers and reports counted;
and what many connections cost besides: cycles as the benchmark counts them, instructions as callgrind does.

    bench.py [ROUNDS]            prints them
    bench.py --compare COMMIT    the same segments with that commit's relay and with this one's, in turn
    bench.py --record [REASON]   adds what does not depend on the machine to tests/bench/record.csv; REASON says why
                                 more than before is accepted"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import record

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/relay_bench"
SCALE = ROOT / "build/release/bench/scale_bench"
CALLGRIND_ROUNDS = 300
CASES = {"split": "split (i-tcp): data and ACKs on both legs",
         "journal": "the same with state.file: each segment begins and ends an exposure, which is the worst that can be",
         "unexposed": "the same with limits.exposure_per_flow: 0B: nothing is acknowledged before the UE has",
         "acks": "split (smvs, law: acks): the default of an inline configuration, no report",
         "drained": "the same, and each UE has acknowledged everything before more data arrives",
         "reported": "split (smvs, law: nodeb): a report of every UE each 5 ms",
         "regulate": "end to end under a law (clamp, intercept: regulate): data and an ACK for every second segment pass",
         "captured": "split (i-tcp) while sluicectl capture shows the headers of every frame that comes in and goes out",
         "recorded": "split (i-tcp) with last_frames.file: the headers of every frame are kept",
         "bypass": "forwarded untouched (bypass): the same packets"}
SIZES = (1, 100, 10_000, 100_000, 1_000_000)
TRAIN = 8
COUNTED = [f"--toggle-collect=*measured_{what}*" for what in ("receive", "advance", "report")]
# What many connections cost: arguments of scale_bench.
SCALES = (("idle", 100_000, 1), ("idle", 1_000_000, 100), ("short", 1), ("short", 1000), ("short", 1000, 1_000_000),
          ("reports", 100), ("reports", 10_000), ("reports", 100_000), ("datagrams",),
          ("city", 100_000, 10, 1), ("city", 100_000, 10, 0), ("city", 100_000, 10, 0, 8952))
# What --compare measures, by the case's name, the connections and the gro_run.
COMPARED = (("split", 1, 1), ("split", 100, 1), ("split", 1000, 1), ("split", 1000, TRAIN), ("split", 10_000, 1),
            ("split", 1_000_000, 1), ("acks", 1000, 1), ("acks", 10_000, 1), ("reported", 1000, 1))
TURNS = 3


def number(pattern, text):
    match = re.search(pattern, text)
    if not match:
        sys.exit(f"bench: no {pattern!r} in\n{text}")
    return int(match[1])


def measured(case, flows=1000, gro_run=1, bench=BENCH, order=()):
    """Instructions per relayed segment under callgrind, and what the benchmark printed. `order` is that of a burst."""
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *COUNTED, bench,
                          str(CALLGRIND_ROUNDS), case, str(flows), str(gro_run), *(("1", order) if order else ())],
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


def cycles(bench, case, flows, gro_run):
    """Of a relayed segment, and per cent of the load that were relayed, by one run of the benchmark."""
    run = subprocess.run([bench, "20000", case, str(flows), str(gro_run)], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"bench: {bench} {case} {flows} {gro_run} failed\n{run.stderr[-2000:]}")
    return number(r"cycles per relayed segment\s+(\d+)", run.stdout), number(r"share of what servers had to send\s+(\d+)", run.stdout)


def build_other(commit):
    """The benchmark of today with the relay of that commit."""
    folder = ROOT / "build" / "compare"
    subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=ROOT, capture_output=True, check=False)
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, commit], cwd=ROOT, check=True)
    shutil.rmtree(folder / "tests" / "bench")
    shutil.copytree(ROOT / "tests" / "bench", folder / "tests" / "bench")
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "check": True}
    subprocess.run(["cmake", "--preset", "release"], **quiet)
    subprocess.run(["ninja", "-C", "build/release", "relay_bench"], **quiet)
    return folder / "build/release/bench/relay_bench"


def compare(commit):
    """Runs take turns, so that what else the machine does meets both alike; the least of each counts."""
    other = build_other(commit)
    print(f"cycles and instructions for a relayed segment, {commit} and now; cycles are the least of {TURNS} runs each")
    print("load: per cent of what the servers had to send; where little of it is relayed, fewer connections are active")
    columns = f"{'before':>8} {'now':>8} {'ratio':>6}"
    print(f"{'case':>10} {'connections':>12} {'gro_run':>6} {columns} {'load':>9} {columns}")
    for case, flows, gro_run in COMPARED:
        runs = [(cycles(other, case, flows, gro_run), cycles(BENCH, case, flows, gro_run)) for _ in range(TURNS)]
        (before, carried), (now, carries) = (min(run[i] for run in runs) for i in (0, 1))
        line = f"{case:>10} {flows:>12} {gro_run:>6} {before:>8} {now:>8} {now / before:>6.2f} {carried:>4}/{carries:>4}"
        if flows <= 10_000:
            was, here = (measured(case, flows, gro_run, bench)[0] for bench in (other, BENCH))
            line += f" {was:>8.0f} {here:>8.0f} {here / was:>6.2f}"
        print(line, flush=True)
    subprocess.run(["git", "worktree", "remove", "--force", ROOT / "build" / "compare"], cwd=ROOT, check=False)
    return 0


def print_shards():
    """How much more as many shards relay as there are processors than one does."""
    shards = min(len(os.sched_getaffinity(0)), 64)
    for flows in (1000, 10_000) if shards > 1 else ():
        print(f"{shards} shards, {flows} connections each", flush=True)
        subprocess.run([BENCH, "20000", "split", str(flows), "1", str(shards)], check=True)
    print(flush=True)


def print_scale():
    """Many connections, trains, and what is no segment."""
    print("\nsplit (i-tcp), by the number of connections", flush=True)
    for flows in SIZES:
        print(f"  {flows} connections", flush=True)
        subprocess.run([BENCH, "20000", "split", str(flows)], check=True)
    print(f"\ntrains of {TRAIN} segments of a connection, 1000 connections", flush=True)
    subprocess.run([BENCH, "20000", "split", "1000", str(TRAIN)], check=True)
    print(f"instructions per relayed segment    {measured('split', 1000, TRAIN)[0]:.0f} (callgrind)", flush=True)
    for order in ("interleaved", "random"):
        print(f"  {order}{'':{34 - len(order)}}{measured('split', 1000, TRAIN, order=order)[0]:.0f}", flush=True)
    print(flush=True)
    print_shards()
    for arguments in SCALES:
        subprocess.run([SCALE, *map(str, arguments)], check=True)
    return 0


def main():
    if not BENCH.is_file():
        sys.exit(f"bench: {BENCH} was not built")
    if sys.argv[1:2] == ["--record"]:
        return record_now(" ".join(sys.argv[2:]))
    if sys.argv[1:2] == ["--compare"]:
        return compare(sys.argv[2]) if len(sys.argv) == 3 else "bench: --compare wants a commit"
    rounds = sys.argv[1:2] or ["20000"]
    print("One relayed 1448-byte segment, in memory, 1000 active flows, burst 32", flush=True)
    for case, text in CASES.items():
        print(f"\n{text}", flush=True)
        code = subprocess.run([BENCH, *rounds, case], check=False).returncode
        if code:
            return code
        print(f"instructions per relayed segment    {measured(case)[0]:.0f} (callgrind)", flush=True)
    return print_scale()


if __name__ == "__main__":
    sys.exit(main())
