#!/usr/bin/python3
"""Does the ACK-based controller do harm anywhere, beside CUBIC, BBR and BBR 3 without a proxy?

    harm.py NODEB [--quick] [--kind KIND]... [--seeds N]         networks that are listed
    harm.py NODEB --fresh N [--seed S] [--seeds N]               N networks that are drawn, by the seeds S, S+1, …
    harm.py NODEB --search N [--seed S]                          at most N networks, in search of where the law is worst
    ... [--out DIR] [--workers N] [--rows N] [--baselines DIR]

Every network is a scenario in OUT/networks, which `nodeb run` runs by itself too. OUT/results.csv has a row for each
network, sender and seed, OUT/report.html and what is printed the ratio of each bound, worst first. harm_judge.py has the
bounds, harm_networks.py the networks. --baselines keeps what CUBIC, BBR and BBR 3 came to, and measures only the law
where it is known: for programs that differ in nothing but the law."""

import argparse
import concurrent.futures
import csv
import dataclasses
import hashlib
import json
import os
import random
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
import harm_page  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
BASELINES = tuple(sender for sender in harm_networks.SENDERS if sender not in harm_networks.LAWS)
# Of a search: the share that is drawn before the worst are changed, and the networks that are made simpler.
DRAWN_SHARE = 0.4


class HarmError(Exception):
    """What ends the experiment, in words for who started it."""


class UnknownKey(Exception):
    """The program is older than a key of the scenario."""


# Runs -----------------------------------------------------------------------------------------------------------------


def run_senders(nodeb, network, seeds, senders):
    """{(sender, seed): Outcome} of those senders."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network.yaml"
        file.write_text(harm_networks.scenario_text(network, senders=senders), encoding="utf-8")
        command = [nodeb, "run", file, "--out", folder, "--workers", "1", "--seeds", str(seeds)]
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 2 and re.search(r"unknown key|expected one of", done.stderr):
            raise UnknownKey(done.stderr.strip().splitlines()[0])
        if done.returncode:
            raise HarmError(f"{network.name}: {done.stderr.strip()[-1500:]}")
        return harm_judge.read_outcomes(network, Path(folder))


def known_baselines(file):
    """What an earlier run has left there; nothing where there is no such file, or it has other figures."""
    try:
        return {(sender, seed): harm_judge.Outcome(**values) for sender, seed, values in json.loads(file.read_text(encoding="utf-8"))}
    except (OSError, ValueError, TypeError):
        return {}


def run_network(nodeb, network, seeds, baselines=None):
    """The outcomes of all senders and seeds."""
    if baselines is None:
        return run_senders(nodeb, network, seeds, tuple(harm_networks.SENDERS))
    text = harm_networks.scenario_text(network, senders=BASELINES)
    file = baselines / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}-{seeds}.json"
    outcomes = known_baselines(file)
    if not outcomes:
        outcomes = run_senders(nodeb, network, seeds, BASELINES)
        unfinished = file.with_suffix(f".{os.getpid()}.{id(network)}")
        unfinished.write_text(json.dumps([(*key, dataclasses.asdict(outcome)) for key, outcome in outcomes.items()]), encoding="utf-8")
        unfinished.replace(file)
    return outcomes | run_senders(nodeb, network, seeds, harm_networks.LAWS)


def cost(network, seeds):
    """About how much work a network is: bits."""
    return network.bottleneck * network.seconds * seeds


@dataclasses.dataclass
class Measurer:
    """Runs networks, some at a time, and judges them."""

    nodeb: str
    seeds: int  # of networks in which something is drawn
    workers: int
    baselines: Path | None = None
    skipped: dict = dataclasses.field(default_factory=dict)  # name of a network that the program is too old for: why
    failed: dict = dataclasses.field(default_factory=dict)  # name of a network that was not run: why

    def __post_init__(self):
        if self.baselines:
            self.baselines.mkdir(parents=True, exist_ok=True)

    def seeds_of(self, network):
        return self.seeds if network.is_random else 1

    def measure(self, networks):
        """[(network, outcomes)] in the order of `networks`, without those that the program does not know; the dearest run
        first."""
        order = sorted(range(len(networks)), key=lambda i: -cost(networks[i], self.seeds_of(networks[i])))
        measured, told = {}, 0
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            futures = {pool.submit(run_network, self.nodeb, networks[i], self.seeds_of(networks[i]), self.baselines): i for i in order}
            for future in concurrent.futures.as_completed(futures):
                i = futures[future]
                try:
                    measured[i] = future.result()
                except UnknownKey as why:
                    self.skipped[networks[i].name] = str(why)
                except HarmError as why:
                    self.failed[networks[i].name] = str(why)
                tenth = 10 * len(measured) // len(networks)
                if len(networks) >= 100 and tenth > told:
                    told = tenth
                    print(f"harm: {len(measured)} of {len(networks)} networks", file=sys.stderr, flush=True)
        return [(networks[i], measured[i]) for i in sorted(measured)]


def file_name(number, network):
    return f"{number:03}-{re.sub(r'[^a-z0-9]+', '-', network.name.lower()).strip('-')}"[:120] + ".yaml"


def verdicts_of(measured, folder, numbers=None):
    """The verdicts, and the scenario of each network in `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    verdicts = []
    for place, (network, outcomes) in enumerate(measured):
        file = folder / file_name(numbers[network] if numbers else place + 1, network)
        file.write_text(harm_networks.scenario_text(network), encoding="utf-8")
        verdicts += harm_judge.judge(network, outcomes, file)
    return verdicts


# What is written ------------------------------------------------------------------------------------------------------


def write_results(file, measured):
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(harm_judge.COLUMNS)
        for network, outcomes in measured:
            for (sender, seed), outcome in outcomes.items():
                values = dataclasses.asdict(outcome)
                values["is_full"] = int(values["is_full"])
                row = {"case": network.name, "mode": sender, "seed": seed, **values}
                writer.writerow(["" if row[column] is None else f"{row[column]:.6g}" if isinstance(row[column], float) else row[column]
                                 for column in harm_judge.COLUMNS])


def show(verdicts, measured, options, before, after=""):
    """Writes results.csv, report.html and table.txt, and prints the table."""
    write_results(options.out / "results.csv", measured)
    text = f"{harm_page.answer(verdicts)}\n\n{harm_page.table(verdicts, options.rows)}\n\n{harm_page.summary(verdicts)}\n{after}"
    (options.out / "table.txt").write_text(text, encoding="utf-8")
    (options.out / "report.html").write_text(harm_page.page(verdicts, before), encoding="utf-8")
    print(text + f"{before}; {options.out}/results.csv, report.html, networks")


# Listed, drawn and searched -------------------------------------------------------------------------------------------


def listed(measurer, options):
    networks = harm_networks.quick() if options.quick else harm_networks.every()
    networks = [each for each in networks if not options.kind or each.kind in options.kind]
    if not networks:
        raise HarmError(f"no networks of kind {', '.join(options.kind)}")
    measured = measurer.measure(networks)
    return measured, verdicts_of(measured, options.out / "networks"), ""


def fresh(measurer, options):
    """Networks of so many seeds; tells which are not within the bounds, and why."""
    seeds = range(options.seed, options.seed + options.fresh)
    numbers = {harm_networks.drawn(seed): seed for seed in seeds}
    measured = measurer.measure(list(numbers))
    verdicts = verdicts_of(measured, options.out / "networks", numbers)
    lines = []
    for law in harm_networks.LAWS:
        ours = [each for each in verdicts if each.law == law]
        bad = sorted(numbers[each.network] for each in ours if not each.holds)
        lines.append(f"{law}: {100 * (len(ours) - len(bad)) / max(1, len(ours)):.1f} % of {len(ours)} drawn networks are within every bound"
                     + (f"; not those of the seeds {' '.join(map(str, bad))}" if bad else ""))
    return measured, verdicts, "\n".join(lines) + "\n"


def search(measurer, options):
    """Draws networks, then changes the worst for each law and bound, and takes what is worse; last, makes these simpler for as
    long as they stay as bad."""
    draw = random.Random(options.seed)
    found = {}  # network: (outcomes, {(law, bound): ratio})

    def evaluate(networks):
        fresh_ones = [each for each in dict.fromkeys(networks) if each not in found]
        for network, outcomes in measurer.measure(fresh_ones[:max(0, options.search - len(found))]):
            found[network] = outcomes, {(each.law, bound): ratio for each in harm_judge.judge(network, outcomes) for bound, ratio in each.ratios.items()}

    def worst(target):
        return min((each for each in found if target in found[each][1]), key=lambda each: found[each][1][target], default=None)

    evaluate([harm_networks.drawn(options.seed + i) for i in range(max(1, int(DRAWN_SHARE * options.search)))])
    targets = [(law, bound) for law in harm_networks.LAWS for bound in harm_judge.BOUNDS]
    left = (options.search - len(found)) // 2  # the rest makes them simpler
    while left > 0:
        changes = [harm_networks.changed(worst(target), draw) for target in targets if worst(target)][:left]
        evaluate(changes)
        left -= max(1, len(changes))
    simple = {}
    for target in targets:
        network = worst(target)
        if network is None:
            continue
        while len(found) < options.search:
            options_here = list(harm_networks.simpler(network))
            evaluate(options_here)
            bad = max(0.5, 1.25 * found[network][1][target])
            better = [each for each in options_here if each in found and found[each][1].get(target, 99) <= bad and each != network]
            if not better or found[network][1][target] >= 1:
                break
            network = min(better, key=lambda each: found[each][1][target])
        simple[target] = network
    chosen = dict.fromkeys([*simple.values(), *(each for each in map(worst, targets) if each)])
    lines = [f"{law}, {bound}: {found[network][1][law, bound]:.3f} in {network.name}" for (law, bound), network in simple.items()]
    measured = [(network, found[network][0]) for network in chosen]
    return measured, verdicts_of(measured, options.out / "networks"), f"{len(found)} networks; the simplest of the worst for each bound:\n" + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="./run experiment harm", description=__doc__.splitlines()[0])
    parser.add_argument("nodeb", help="the program")
    parser.add_argument("--quick", action="store_true", help="some sixty networks, one seed")
    parser.add_argument("--fresh", type=int, default=0, metavar="N", help="judge N networks that are drawn")
    parser.add_argument("--search", type=int, default=0, metavar="N", help="look for the worst, in at most N networks")
    parser.add_argument("--seed", type=int, default=1, help="the first of the drawn networks")
    parser.add_argument("--kind", action="append", default=[], help="listed networks of this kind alone")
    parser.add_argument("--seeds", type=int, default=0,
                        help="of networks in which something is drawn (1 with --quick and --search, 3 with --fresh, else 10)")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "harm", help="folder of the results")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="networks at a time")
    parser.add_argument("--rows", type=int, help="of the table that is printed, at most")
    parser.add_argument("--baselines", type=Path, help="folder that keeps what CUBIC, BBR and BBR 3 came to")
    options = parser.parse_args()
    seeds = options.seeds or (1 if options.quick or options.search else 3 if options.fresh else 10)
    began = time.monotonic()
    measurer = Measurer(os.path.abspath(options.nodeb), seeds, options.workers, options.baselines)
    options.out.mkdir(parents=True, exist_ok=True)
    what = search if options.search else fresh if options.fresh else listed
    measured, verdicts, after = what(measurer, options)
    for name, why in (measurer.skipped | measurer.failed).items():
        print(f"harm: not measured: {name}: {why}", file=sys.stderr)
    if not measured:
        raise HarmError("no network was measured")
    show(verdicts, measured, options, f"{len(measured)} networks, {seeds} seeds, {time.monotonic() - began:.0f} s", after)
    return 1 if measurer.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (HarmError, OSError) as problem:
        sys.exit(f"harm: {problem}")
