#!/usr/bin/python3
"""nodeb by the clock: does it keep its TTIs, how late do packets leave, how old are its reports at the proxy.

Everything is on this machine and needs root for its real-time priority alone: nodeb's built-in hosts, its wired hops and
its cell run in one thread; with a proxy every packet also goes through sluice and back, over shared memory (memif), and the
reports over UDP. Other work on the machine shows as lateness: what the kernel says of it is printed beside (the share of the
run in which some thread waited for a processor, of which the programs' own threads are part). So does what a hypervisor
takes, of which the kernel knows nothing: before each run as many threads as poll in it do nothing but read the clock
(tests/bench/clock_gaps.cpp), and what these miss is the machine's."""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import programs
from lab import LabError

CELL = {"tti": "2ms", "scheduler": "pf", "harq": {},
        "ues": [{"address": f"10.45.0.{i + 2}", "buffer": "1000 frames",
                 "channel": {"type": "hsdpa", "radio": {"distance": f"{100 + 20 * i}m"}}} for i in range(20)],
        "uplink": {"delay": "10ms"}}
FAST = {"tti": "1ms", "ues": [{"address": "10.45.0.2", "frame": "0B", "buffer": "4MiB",
                               "channel": {"type": "constant", "rate": "550Mb/s"}}], "uplink": {"delay": "10ms"}}
IDLE = {"tti": "2ms", "ues": [{"address": "10.45.0.2", "frame": "0B", "buffer": "4MiB",
                               "channel": {"type": "constant", "rate": "1Mb/s"}}], "uplink": {"delay": "10ms"}}
# What is run: name, mode, cell, hops, applications. The first has nothing to do but its TTIs: what it misses the machine
# took, and the others cannot be expected to miss less.
HOPS = {"server_proxy": {"delay": "10ms"}, "proxy_nodeb": {"delay": "5ms"}}
RUNS = (("nothing but TTIs", "none", IDLE, HOPS, []),
        ("20 HSDPA UEs, one process", "none", CELL, HOPS, [{"type": "bulk", "ue": i} for i in range(20)]),
        ("20 HSDPA UEs, through sluice", "smvs", CELL, HOPS, [{"type": "bulk", "ue": i} for i in range(20)]),
        ("550 Mb/s at 40 ms, one process", "none", FAST, HOPS, [{"type": "bulk", "connections": 4}]),
        ("550 Mb/s at 40 ms, through sluice", "smvs", FAST, HOPS, [{"type": "bulk", "connections": 4}]))
TARGETS = "aims: missed TTIs below 1e-04, late p99 at most 1000 us, report age p99 at most one TTI + 1 ms, 500 Mb/s"


def pressure():
    """Microseconds so far in which some thread of the machine waited for a processor; None where the kernel does not say."""
    try:
        text = Path("/proc/pressure/cpu").read_text(encoding="ascii")
    except OSError:
        return None
    return int(text.splitlines()[0].rsplit("total=", 1)[1])


def memif(number, role, folder, name):
    return f"net_memif{number},role={role},id=0,socket={folder}/{name}.memif"


def start_sluice(folder, mode, priority):
    law = {"law": "nodeb", "parameters": {"one_way_delay": "5ms"}}
    text = programs.sluice_configuration(memif(0, "server", folder, "radio"), memif(1, "server", folder, "core"),
                                         folder / "sluice.sock", mode=mode, smvs=law,
                                         shards={"priority": priority})
    file = folder / "sluice.yaml"
    programs.write(file, text)
    log = open(folder / "sluice.log", "w+", encoding="utf-8")  # pylint: disable=consider-using-with
    process = subprocess.Popen([programs.program("sluice"), file], stdout=log, stderr=log,
                               env={**os.environ, "XDG_RUNTIME_DIR": str(folder)})
    deadline = time.monotonic() + 30
    while "running" not in (folder / "sluice.log").read_text(encoding="utf-8"):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise LabError("sluice does not start:\n" + (folder / "sluice.log").read_text(encoding="utf-8"))
        time.sleep(0.05)
    return process


def scenario_of(folder, mode, cell, hops, apps, priority):
    scenario = {"warmup": "2s", "modes": [mode], **hops, "cell": cell, "apps": apps,
                "smvs": {"law": "nodeb", "parameters": {"step": "5ms", "reference": "20ms"}},
                "live": {"buffers": 65536, "priority": priority}}
    if mode != "none":
        scenario["live"].update(cell_core=memif(0, "client", folder, "radio"), hop_proxy=memif(1, "client", folder, "core"),
                                feedback={"listen": f"127.0.0.1:{programs.NODEB_FEEDBACK}",
                                          "peers": [f"127.0.0.1:{programs.PROXY_FEEDBACK}"], "sender": 2,
                                          "keys": [{"id": 1, "secret": programs.KEY}]})
    return scenario


def run(mode, cell, hops, apps, seconds, priority):
    """One run: nodeb's row of results.csv."""
    with tempfile.TemporaryDirectory(prefix="sluice-rt-") as name:
        folder = Path(name)
        sluice = start_sluice(folder, mode, priority) if mode != "none" else None
        try:
            file = folder / "nodeb.yaml"
            programs.write(file, scenario_of(folder, mode, cell, hops, apps, priority))
            nodeb = subprocess.run([programs.program("nodeb"), "live", file, "--seconds", str(seconds), "--out", folder / "out"],
                                   capture_output=True, text=True, timeout=seconds + 60, check=False,
                                   env={**os.environ, "XDG_RUNTIME_DIR": str(folder)})
            if nodeb.returncode != 0:
                raise LabError(f"nodeb ended with {nodeb.returncode}\n{nodeb.stderr}")
        finally:
            if sluice:
                sluice.terminate()
                sluice.wait(20)
        with open(folder / "out" / "results.csv", newline="", encoding="utf-8") as stream:
            (row,) = csv.DictReader(stream)
        return row


def machine_alone(tti, threads, seconds):
    """What the machine takes from so many threads that do nothing but read the clock: TTIs missed, TTIs seen, and the longest
    time in us for which one of them could not."""
    run_of_it = subprocess.run([programs.BUILD / "bench" / "clock_gaps", str(seconds), str(int(tti.removesuffix("ms")) * 1000),
                                str(threads)], capture_output=True, text=True, timeout=seconds + 60, check=False)
    if run_of_it.returncode != 0:
        raise LabError(f"clock_gaps ended with {run_of_it.returncode}\n{run_of_it.stderr}")
    return tuple(map(int, run_of_it.stdout.split()))


def line_of_machine(missed, ttis, longest):
    return f"{'  before it, the clock alone':34} {'':14} missed {missed:5} of {ttis} TTIs ({missed / ttis:.1e})   longest {longest} us"


def line(name, row, waited):
    missed, ttis = int(row["ttis_missed"]), int(row["ttis"])
    text = (f"{name:34} {float(row['throughput_bps']) / 1e6:7.1f} Mb/s   missed {missed:5} of {ttis} TTIs ({missed / ttis:.1e})   "
            f"late p50 {row['lateness_p50_us']:>4} p99 {row['lateness_p99_us']:>6} us")
    if row.get("report_echo_p99_us"):
        text += f"   reports p50 {row['report_echo_p50_us']:>4} p99 {row['report_echo_p99_us']:>6} us"
    return text + ("" if waited is None else f"   [waiting {waited:.0%}]")


def main():
    parser = argparse.ArgumentParser(prog="./run bench realtime")
    parser.add_argument("--seconds", type=float, default=20, help="of each run (default 20)")
    parser.add_argument("--repeat", type=int, default=1, help="rounds of all runs (default 1)")
    parser.add_argument("--priority", choices=("normal", "real-time"), default="real-time",
                        help="of the poll threads (default real-time, which takes root or CAP_SYS_NICE)")
    args = parser.parse_args()
    if args.seconds <= 3:
        parser.error("--seconds: more than 3, the warm-up of 2 s is not measured")
    print(TARGETS)
    print("reports: from when a report should be at the proxy until its answer is at the Node-B, more than the report's age")
    try:
        for _ in range(args.repeat):
            for name, mode, cell, hops, apps in RUNS:
                print(line_of_machine(*machine_alone(cell["tti"], 1 if mode == "none" else 2, args.seconds)), flush=True)
                before, began = pressure(), time.monotonic()
                row = run(mode, cell, hops, apps, args.seconds, args.priority)
                waited = None if before is None else (pressure() - before) / 1e6 / (time.monotonic() - began)
                print(line(name, row, waited), flush=True)
    except LabError as problem:
        print(f"realtime: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
