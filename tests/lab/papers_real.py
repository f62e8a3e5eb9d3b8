#!/usr/bin/python3
"""The scenarios of configs/papers/real by both clocks: in virtual time with built-in hosts, and in real time with the kernel's
TCP in network namespaces, through nodeb and sluice. Needs root.

    server - nodeb (hop) - sluice - nodeb (hop, radio queue, radio link) - UE

Writes configs/papers/real/results.csv, and the table of configs/papers/README.md from it."""

import argparse
import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import kernel_flows
import lab as lab_module
import programs
import yaml

sys.path.insert(0, str(programs.ROOT / ".tools"))
import papers_clocks as clocks  # noqa: E402

# Sections that a scenario and the proxy's configuration have alike.
LAWS = ("clamp", "clamp_price", "gwa", "fair_share", "radio_buffer")
STAY = 2  # seconds that hosts and nodeb are given beyond the end


def modes_of(scenario):
    return scenario["modes"]


def proxy_settings(scenario, mode):
    """The proxy's configuration for a mode of the scenario; in virtual time nodeb takes the same from its file."""
    word, _, intercept = mode.partition("/")
    settings = dict(scenario.get("proxy", {}))
    settings.update({key: scenario[key] for key in LAWS if key in scenario})
    settings["mode"] = word
    if intercept:
        settings["intercept"] = intercept
    # The law is in the Node-B's file, as its parameters are.
    settings["smvs"] = {"law": "nodeb", "parameters": {"one_way_delay": scenario["proxy_nodeb"]["delay"]}}
    return settings


def live_scenario(scenario, mode, seed, duration):
    """The scenario with the ports of a lab."""
    proxied = mode != "none"
    live = programs.nodeb_scenario({}, proxied)["live"]
    return {**scenario, "seed": seed, "duration": f"{duration}s", "live": live, "modes": [mode]}


def in_real_time(scenario, mode, seed, folder):
    """One run with kernel hosts: its row of results.csv, with what the hosts themselves received."""
    duration, warmup = (kernel_flows.seconds(scenario[key]) for key in ("duration", "warmup"))
    flows = kernel_flows.flows_of(scenario)
    with lab_module.Lab("papers", folder) as lab:
        proxied = mode != "none"
        wire = lab.radio(len(scenario["cell"]["ues"]), proxy=proxied)
        kernel_flows.prepare_hosts(wire, scenario)
        sluice = None
        if proxied:
            sluice = programs.Sluice(lab, wire.box, radio="proxy-radio", core="proxy-core", **proxy_settings(scenario, mode))
        nodeb = programs.Nodeb(lab, wire.box, live_scenario(scenario, mode, seed, duration), mode, duration)
        began = time.monotonic()
        with kernel_flows.KernelFlows(wire, flows) as transfers:
            transfers.start()
            transfers.play_until(began + warmup)
            before, since = list(transfers.received), time.monotonic()
            transfers.play_until(began + duration)
            received, until = list(transfers.received), time.monotonic()
            if nodeb.process.wait(duration + 30) != 0:
                raise lab_module.LabError(f"nodeb ended with {nodeb.process.poll()}\n{nodeb.process.tail()}")
        if sluice:
            sluice.stop_and_check()
    row = {**nodeb.results(), "mode": mode}
    counts = [now - then for now, then in zip(received, before, strict=True)]
    figures = kernel_flows.fairness(counts, flows, until - since)
    row.update({key: f"{value:.6g}" for key, value in figures.items() if value is not None})
    return row


def in_virtual_time(file, seeds, folder):
    """The rows of results.csv of all modes and seeds."""
    run = subprocess.run([programs.program("nodeb"), "run", file, "--seeds", str(seeds), "--out", folder], capture_output=True,
                         text=True, check=False)
    if run.returncode:
        raise lab_module.LabError(f"nodeb run {file}: {run.stderr.strip()}")
    with open(folder / "results.csv", newline="", encoding="utf-8") as stream:
        return [{**row, "clock": "virtual"} for row in csv.DictReader(stream)]


def measure(name, seeds, out):
    """Both clocks, every mode and seed of one scenario."""
    file = clocks.FOLDER / f"{name}.yaml"
    scenario = yaml.safe_load(file.read_text(encoding="utf-8"))
    first = scenario.get("seed", 1)
    rows = in_virtual_time(file, seeds, out / name / "virtual")
    for mode in modes_of(scenario):
        for seed in range(first, first + seeds):
            print(f"{name}: {mode}, seed {seed}, {scenario['duration']} by the clock", file=sys.stderr, flush=True)
            kept = out / name / f"{mode.replace('/', '-')}-{seed}"
            shutil.rmtree(kept, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix="sluice-papers-") as short:  # Unix sockets want short paths
                try:
                    rows.append(in_real_time(scenario, mode, seed, Path(short)))
                finally:
                    shutil.copytree(short, kept, ignore=lambda _, names: [n for n in names if n.endswith(".sock")])
    return rows


def main():
    parser = argparse.ArgumentParser(prog="./run experiment papers --real")
    parser.add_argument("--only", action="append", choices=clocks.names(), help="this scenario; may be given several times")
    parser.add_argument("--seeds", type=int, default=1, help="each mode so often (default 1)")
    parser.add_argument("--out", type=Path, default=programs.ROOT / "out" / "papers" / "real", help="folder for what programs wrote")
    parser.add_argument("--dry", action="store_true", help="only print; the record and README.md stay as they are")
    args = parser.parse_args()
    reason = lab_module.why_not()
    if reason:
        print(f"papers: not in real time: {reason}", file=sys.stderr)
        return 1
    lab_module.exit_on_sigterm()
    try:
        for name in args.only or clocks.names():
            rows = clocks.rows_of(name, measure(name, args.seeds, args.out))
            print(clocks.table(rows), flush=True)
            if not args.dry:
                clocks.write(name, rows)
    except (lab_module.LabError, clocks.PapersError) as problem:
        print(f"papers: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
