#!/usr/bin/python3
"""Does the law by acknowledgements do harm anywhere, beside CUBIC, BBR and BBR 3 without a proxy?

    harm.py NODEB [--quick] [--kind KIND]... [--seeds N] [--out DIR] [--workers N] [--rows N]

Every network is a scenario in OUT/networks, which `nodeb run` runs by itself too. OUT/results.csv has a row for each
network, sender and seed; what is printed has the ratio of each bound, worst first. harm_judge.py has the bounds."""

import argparse
import concurrent.futures
import csv
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True  # nothing appears beside the sources
import harm_judge  # noqa: E402
import harm_networks  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


class HarmError(Exception):
    """What ends the experiment, in words for who started it."""


def file_name(number, network):
    return f"{number:03}-{re.sub(r'[^a-z0-9]+', '-', network.name.lower()).strip('-')}"[:120] + ".yaml"


def run_network(nodeb, network, file, seeds):
    """The outcomes of all senders and seeds, by the file of the network."""
    with tempfile.TemporaryDirectory() as folder:
        command = [nodeb, "run", file, "--out", folder, "--workers", "1", "--seeds", str(seeds)]
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise HarmError(f"{file}: {done.stderr.strip()[-1500:]}")
        return harm_judge.read_outcomes(network, Path(folder))


def cost(network, seeds):
    """About how much work a network is: packets."""
    return network.bottleneck * network.seconds * seeds


def measure(nodeb, networks, folder, seeds, workers):
    """[(network, file, outcomes)] in the order of `networks`; the dearest run first. Of `networks` each is written to
    `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / file_name(number, network) for number, network in enumerate(networks, 1)]
    for network, file in zip(networks, files):
        file.write_text(harm_networks.scenario_text(network), encoding="utf-8")
    counts = [seeds if network.is_random else 1 for network in networks]
    order = sorted(range(len(networks)), key=lambda i: -cost(networks[i], counts[i]))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = {i: pool.submit(run_network, nodeb, networks[i], files[i], counts[i]) for i in order}
        return [(networks[i], files[i], futures[i].result()) for i in range(len(networks))]


# What is written ------------------------------------------------------------------------------------------------------


def write_results(file, measured):
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(harm_judge.COLUMNS)
        for network, _, outcomes in measured:
            for (sender, seed), outcome in outcomes.items():
                values = dataclasses.asdict(outcome)
                values["is_full"] = int(values["is_full"])
                row = {"case": network.name, "mode": sender, "seed": seed, **values}
                writer.writerow(["" if row[column] is None else f"{row[column]:.6g}" if isinstance(row[column], float) else row[column]
                                 for column in harm_judge.COLUMNS])


def ratio_text(verdict, bound):
    ratio = verdict.ratios.get(bound)
    return "" if ratio is None else f"{ratio:.2f}" + (" *" if ratio < 1 else "")


def figures_text(verdict):
    """Goodput, drops, delay, ping: of the law, CUBIC and BBR."""
    def texts(name, scale=1.0, digits=0):
        values = [getattr(verdict.by_sender[sender], name) for sender in (verdict.law, "cubic", "bbr")]
        return "/".join("-" if value is None else f"{value * scale:.{digits}f}" for value in values)
    return [texts("goodput", 1e-6, 2), texts("drops"), texts("server_to_ue_delay_p95_ms"), texts("ping_p95_ms"),
            texts("other_goodput_share", 1, 2) if "others" in verdict.ratios else ""]


HEADINGS = ("case", "law", *harm_judge.BOUNDS, "Mb/s (law/cubic/bbr)", "drops", "p95 ms", "ping ms", "others")


def table(verdicts, rows=None):
    """Worst first, as text."""
    ordered = sorted(verdicts, key=lambda each: each.score)[:rows]
    lines = [HEADINGS]
    lines += [(each.network.name, each.law, *(ratio_text(each, bound) for bound in harm_judge.BOUNDS), *figures_text(each)) for each in ordered]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def summary(verdicts):
    """How many verdicts keep every bound, and for each kind of network and bound how many break it."""
    kinds = {}
    for verdict in verdicts:
        kinds.setdefault((verdict.network.kind, verdict.law), []).append(verdict)
    lines = []
    for (kind, law), each in sorted(kinds.items()):
        broken = {bound: sum(v.ratios.get(bound, 1) < 1 for v in each) for bound in harm_judge.BOUNDS}
        said = ", ".join(f"{bound} {count}" for bound, count in broken.items() if count) or "every bound holds"
        lines.append(f"{kind:12} {law:10} {sum(v.holds for v in each):3} of {len(each):3} hold: {said}")
    lines.append(f"{sum(v.holds for v in verdicts)} of {len(verdicts)} hold every bound")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(prog="./run experiment harm", description=__doc__.splitlines()[0])
    parser.add_argument("nodeb", help="the program")
    parser.add_argument("--quick", action="store_true", help="some forty networks, one seed")
    parser.add_argument("--kind", action="append", default=[], help="networks of this kind alone")
    parser.add_argument("--seeds", type=int, default=0, help="of networks in which something is drawn (1 with --quick, else 10)")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "harm", help="folder of the results")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="networks at a time")
    parser.add_argument("--rows", type=int, help="of the table that is printed, at most")
    options = parser.parse_args()
    began = time.monotonic()
    networks = [each for each in harm_networks.quick() if not options.kind or each.kind in options.kind]
    if not networks:
        raise HarmError(f"no networks of kind {', '.join(options.kind)}")
    shutil.rmtree(options.out / "networks", ignore_errors=True)
    measured = measure(options.nodeb, networks, options.out / "networks", options.seeds or 1, options.workers)
    write_results(options.out / "results.csv", measured)
    verdicts = [verdict for network, file, outcomes in measured for verdict in harm_judge.judge(network, outcomes, file)]
    text = f"{table(verdicts, options.rows)}\n\n{summary(verdicts)}\n"
    (options.out / "table.txt").write_text(text, encoding="utf-8")
    print(text + f"{len(networks)} networks in {time.monotonic() - began:.0f} s; {options.out}/results.csv, {options.out}/networks")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (HarmError, OSError) as problem:
        sys.exit(f"harm: {problem}")
