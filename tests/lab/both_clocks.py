#!/usr/bin/python3
"""Scenarios by both clocks, those of configs/papers/real (papers) and of configs/scenarios/real (senders): in virtual time with
built-in hosts, and in real time with the kernel's TCP in network namespaces, through nodeb and sluice. Needs root.

    server - nodeb (hop) - sluice - nodeb (hop, radio queue, radio link) - UE

Hosts with accurate ECN are built in by either clock, for no kernel here has it: nodeb's packets go through sluice over shared
memory (memif). Writes results.csv beside the scenarios, and the table of their page from it."""

import argparse
import copy
import csv
import itertools
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

FOLDERS = {"papers": clocks.FOLDER, "senders": clocks.SENDERS}
# Sections that a scenario and the proxy's configuration have alike.
LAWS = ("clamp", "clamp_price", "gwa", "fair_share", "radio_buffer")


def put(section, key, value):
    """Sets what a sweep names: a path of names, numbers in lists, and * for each of them."""
    name, _, rest = key.partition(".")
    places = range(len(section)) if name == "*" else [int(name) if isinstance(section, list) else name]
    for place in places:
        if rest:
            if isinstance(section, dict):
                section.setdefault(place, {})
            put(section[place], rest, value)
        else:
            section[place] = value


def points_of(scenario):
    """What is compared: each mode of a scenario, or each point of its sweep; (words for it, its mode, the scenario)."""
    base = {key: value for key, value in scenario.items() if key != "sweep"}
    entries = scenario.get("sweep", [])
    if not entries:
        return [(mode, mode, base) for mode in scenario["modes"]]
    axes = [entry for entry in entries if "with" not in entry]
    points = []
    for places in itertools.product(*(range(len(axis["values"])) for axis in axes)):
        chosen = {axis["column"]: place for axis, place in zip(axes, places, strict=True)}
        point = copy.deepcopy(base)
        for entry in entries:
            for key in entry["keys"]:
                put(point, key, entry["values"][chosen[entry.get("with", entry.get("column"))]])
        words = [str(axis.get("labels", axis["values"])[place]) for axis, place in zip(axes, places, strict=True)]
        points.append((", ".join(words), point["modes"][0], point))
    return points


def words_of(row, scenario):
    """The same words for a row of results.csv."""
    columns = [entry["column"] for entry in scenario.get("sweep", []) if "with" not in entry] or ["mode"]
    return ", ".join(row[column] for column in columns)


def by_acknowledgements(scenario):
    return scenario.get("smvs", {}).get("law") == "acks"


def built_in(scenario):
    """The scenario's hosts are what no kernel is."""
    return scenario.get("hosts", {}).get("accurate_ecn", False)


def proxy_settings(scenario, mode):
    """The proxy's configuration for a mode of the scenario; in virtual time nodeb takes the same from its file."""
    word, _, intercept = mode.partition("/")
    settings = dict(scenario.get("proxy", {}))
    settings.update({key: scenario[key] for key in LAWS if key in scenario})
    settings["mode"] = word
    if intercept:
        settings["intercept"] = intercept
    if by_acknowledgements(scenario):
        settings["smvs"] = scenario["smvs"]
    else:  # the law is in the Node-B's file, as its parameters are
        settings["smvs"] = {"law": "nodeb", "parameters": {"one_way_delay": scenario["proxy_nodeb"]["delay"]}}
    return settings


def live_scenario(scenario, mode, seed, duration):
    """The scenario with the ports of a lab."""
    reports = mode != "none" and not by_acknowledgements(scenario)
    live = programs.nodeb_scenario({}, reports)["live"]
    return {**scenario, "seed": seed, "duration": f"{duration}s", "live": live, "modes": [mode]}


def with_kernel_hosts(scenario, mode, seed, folder, traces=None):
    """One run with kernel hosts: its row of results.csv, with what the hosts themselves received."""
    duration, warmup = (kernel_flows.seconds(scenario[key]) for key in ("duration", "warmup"))
    flows = kernel_flows.flows_of(scenario)
    with lab_module.Lab("clocks", folder) as lab:
        proxied = mode != "none"
        wire = lab.radio(len(scenario["cell"]["ues"]), proxy=proxied)
        kernel_flows.prepare_hosts(wire, scenario)
        sluice = None
        if proxied:
            sluice = programs.Sluice(lab, wire.box, radio="proxy-radio", core="proxy-core", **proxy_settings(scenario, mode))
        nodeb = programs.Nodeb(lab, wire.box, live_scenario(scenario, mode, seed, duration), mode, duration, traces=traces)
        began = time.monotonic()
        with kernel_flows.KernelFlows(wire, flows, kernel_flows.congestion_of(scenario)) as transfers:
            transfers.start()
            transfers.play_until(began + warmup)
            before, since = list(transfers.received), time.monotonic()
            transfers.play_until(began + duration)
            received, until = list(transfers.received), time.monotonic()
            wait_for(nodeb, duration)
        if sluice:
            sluice.stop_and_check()
    row = nodeb.results()
    counts = [now - then for now, then in zip(received, before, strict=True)]
    figures = kernel_flows.fairness(counts, flows, until - since)
    row.update({key: f"{value:.6g}" for key, value in figures.items() if value is not None})
    return row


def with_built_in_hosts(scenario, mode, seed, folder, traces=None):
    """One run with nodeb's own hosts, by the clock and through the proxy: its row of results.csv. In mode bypass the proxy
    must have passed each of their connections on."""
    duration = kernel_flows.seconds(scenario["duration"])
    with lab_module.Lab("clocks", folder) as lab:
        box = lab.namespace("box")
        socket = {side: f"socket={folder}/{side}.memif,id=0" for side in ("radio", "core")}
        ports = {side: {"device": f"net_memif{number},role=server,{socket[side]}"} for number, side in enumerate(socket)}
        sluice = programs.Sluice(lab, box, ports=ports, **proxy_settings(scenario, mode))
        live = {"cell_core": f"net_memif0,role=client,{socket['radio']}", "hop_proxy": f"net_memif1,role=client,{socket['core']}",
                "priority": "real-time"}
        nodeb = programs.Nodeb(lab, box, {**live_scenario(scenario, mode, seed, duration), "live": live}, mode, duration, traces=traces)
        wait_for(nodeb, duration)
        counters = sluice.counters()
        if (counters["flows_split"] == 0) != (mode == "bypass"):
            raise lab_module.LabError(f"the proxy has split {counters['flows_split']} connections in mode {mode}")
        sluice.stop_and_check()
    return nodeb.results()


def wait_for(nodeb, duration):
    if nodeb.process.wait(duration + 30) != 0:
        raise lab_module.LabError(f"nodeb ended with {nodeb.process.poll()}\n{nodeb.process.tail()}")


def in_real_time(scenario, mode, seed, folder, traces=None):
    play = with_built_in_hosts if built_in(scenario) else with_kernel_hosts
    return {**play(scenario, mode, seed, folder, traces), "mode": mode, "clock": "real"}


def in_virtual_time(file, seeds, folder, traces=None):
    """The rows of results.csv of all modes and seeds."""
    more = ["--traces", traces] if traces else []
    run = subprocess.run([programs.program("nodeb"), "run", file, "--seeds", str(seeds), "--out", folder, *more],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        raise lab_module.LabError(f"nodeb run {file}: {run.stderr.strip()}")
    with open(folder / "results.csv", newline="", encoding="utf-8") as stream:
        return [{**row, "clock": "virtual"} for row in csv.DictReader(stream)]


def measure(file, seeds, out, traces=None):
    """Both clocks, every point and seed of one scenario."""
    name = file.stem
    scenario = yaml.safe_load(file.read_text(encoding="utf-8"))
    first = scenario.get("seed", 1)
    rows = [{**row, "mode": words_of(row, scenario)} for row in in_virtual_time(file, seeds, out / name / "virtual", traces)]
    for words, mode, point in points_of(scenario):
        for seed in range(first, first + seeds):
            print(f"{name}: {words}, seed {seed}, {scenario['duration']} by the clock", file=sys.stderr, flush=True)
            kept = out / name / f"{words.replace('/', '-').replace(', ', '-').replace(' ', '-')}-{seed}"
            shutil.rmtree(kept, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix="sluice-clocks-") as short:  # Unix sockets want short paths
                try:
                    rows.append({**in_real_time(point, mode, seed, Path(short), traces), "mode": words})
                finally:
                    shutil.copytree(short, kept, ignore=lambda _, names: [n for n in names if n.endswith((".sock", ".memif"))])
    return rows


def main():
    parser = argparse.ArgumentParser(prog="./run experiment NAME --real")
    parser.add_argument("family", choices=FOLDERS, metavar="NAME", help="papers or senders")
    parser.add_argument("--only", action="append", help="this scenario; may be given several times")
    parser.add_argument("--seeds", type=int, default=1, help="each so often (default 1)")
    parser.add_argument("--traces", type=Path, help="folder of the recorded links")
    parser.add_argument("--out", type=Path, help="folder for what programs wrote (default out/NAME/real)")
    parser.add_argument("--dry", action="store_true", help="only print; the record and its page stay as they are")
    args = parser.parse_args()
    folder = FOLDERS[args.family]
    names = clocks.names(folder)
    if args.only and not set(args.only) <= set(names):
        parser.error(f"--only: one of {', '.join(names)}")
    reason = lab_module.why_not()
    if reason:
        print(f"{args.family}: not in real time: {reason}", file=sys.stderr)
        return 1
    lab_module.exit_on_sigterm()
    try:
        for name in args.only or names:
            out = args.out or programs.ROOT / "out" / args.family / "real"
            rows = clocks.rows_of(name, measure(folder / f"{name}.yaml", args.seeds, out, args.traces), folder)
            print(clocks.table(rows), flush=True)
            if not args.dry:
                clocks.write(name, rows, folder)
    except (lab_module.LabError, clocks.PapersError) as problem:
        print(f"{args.family}: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
