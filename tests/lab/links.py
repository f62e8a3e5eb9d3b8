#!/usr/bin/python3
"""One setting of the ACK-based controller for links nobody tuned on: a family of generated links and the recorded ones, in virtual time with
TCP, beside an ideal sender over the same link. Each link is judged with the setting that is best on all others.

The ideal sender (tests/bench/ideal_sender.hpp) follows a mean rate and hears only the same acknowledgements. Its setting is the best of a grid for
each link by itself: the one with the greatest worth. Worth is use in points less two for each p95 of the radio queue as long as the link's scale,
which is its round trip, a full packet at its mean rate or 20 ms, whichever is longest. The goal is 93 % of use and no more than 1.3 times the ideal
sender's p95, wherever that one uses 95 %. A setting is better than another with fewer links that miss the goal; of equal ones, with the greater mean
worth. Beside a link that misses stands what the ideal sender makes of it with one setting for all links, as the law has: that is what can be asked
of a sender that does not know the link."""

import argparse
import concurrent.futures
import csv
import dataclasses
import io
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent.parent / "build" / "release"
NODEB = BUILD / "bin" / "nodeb"
IDEAL = BUILD / "bench" / "ideal_links"
GENERATED = 36
RECORDED = [f"{name}.{way}" for name in ("Verizon-LTE-short", "ATT-LTE-driving", "TMobile-UMTS-driving") for way in ("down", "up")]
WARMUP = 5
# What each setting has otherwise than the default one, below smvs.
SETTINGS = {
    "default": {},
    "reference 5 ms": {"acks.reference": "5ms"},
    "reference 15 ms": {"acks.reference": "15ms"},
    "share 0.2": {"acks.reference_share": "0.2"},
    "share 0.2, reference 15 ms": {"acks.reference_share": "0.2", "acks.reference": "15ms"},
    "share 0.5": {"acks.reference_share": "0.5"},
    "gain 1.15": {"acks.gain": "1.15"},
    "gain 1.4": {"acks.gain": "1.4"},
    "memory 50 ms": {"acks.memory": "50ms"},
    "memory 120 ms": {"acks.memory": "120ms"},
}
# Measured beside them and never chosen: it costs delay in the proxy, of which the goal says nothing.
BESIDE = {"second loop 100 ms": {"receive_window.reference": "100ms"}}
KEYS = ("acks.reference", "acks.reference_share", "acks.gain", "acks.memory", "receive_window.reference")
# The goal.
IDEAL_USE, LEAST_USE, MOST_P95 = 95, 93, 1.3
POINTS_FOR_SCALE = 2


@dataclasses.dataclass(frozen=True)
class Link:
    name: str
    trace: str  # of the file
    tti_ms: int = 1
    round_trip_ms: int = 20
    scheduled: bool = False
    generate: tuple = ()  # options of nodeb trace generate; none: recorded


@dataclasses.dataclass(frozen=True)
class Outcome:
    use: float  # per cent
    p95_ms: float  # in the radio queue


def generated(number, seconds):
    """A link of the family: means lie evenly on a logarithmic scale, the rest is drawn by its number."""
    draw = random.Random(number)
    mean = 0.3 * 1000 ** ((number - 1) / (GENERATED - 1))
    speed, snr = 120 ** draw.uniform(0, 1), draw.uniform(0, 20)
    outage_every = draw.choice((0, 20))
    tti, round_trip = draw.choice((1, 1, 1, 2, 5, 10)), draw.choice((10, 20, 40, 80, 150))
    scheduled = tti == 1 and draw.random() < 0.8
    name = f"{mean:.3g} Mb/s, {speed:.0f} km/h, {snr:.0f} dB"
    return Link(name + (", outages" if outage_every else ""), f"generated-{number}", tti, round_trip, scheduled,
                ("--seconds", str(seconds + WARMUP), "--seed", str(number), "--mean", f"{mean:.4f}", "--speed", f"{speed:.2f}",
                 "--snr", f"{snr:.2f}", "--outage-every", str(outage_every)))


def family(seconds, traces):
    """Generated links, and the recorded ones of which there is a file."""
    links = [generated(number, seconds) for number in range(1, GENERATED + 1)]
    for name in RECORDED:
        if traces and (Path(traces) / name).is_file():
            links += [Link(name, name, scheduled=scheduled) for scheduled in (False, True)]
        else:
            print(f"links: {name} is skipped: SLUICE_TRACES has no such file", file=sys.stderr)
    return links


def run(*command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr[-2000:]}")
    return done.stdout


def default_setting():
    """The default of each key, as nodeb explains it."""
    explained = run(NODEB, "--help-scenario")
    values = {}
    for key in KEYS:
        section, name = key.split(".")
        lines = explained.split(f"## `smvs.{section}`\n", 1)[1].split("\n## ", 1)[0]
        values[key] = re.search(rf"^\| `{name}` \|.*\| `([^`]+)` \| [^|]*\|$", lines, re.M)[1]
    return values


def scenario(link, seconds, default):
    """One endless download, swept over the settings: the first key names the column, the others go along."""
    every = {**SETTINGS, **BESIDE}
    rows = [{**default, **changes} for changes in every.values()]
    names = ", ".join(f'"{name}"' for name in every)
    sweeps = "".join(f"  - {{{f'column: setting, labels: [{names}]' if i == 0 else 'with: setting'}, keys: [smvs.{key}], "
                     f"values: [{', '.join(row[key] for row in rows)}]}}\n" for i, key in enumerate(KEYS))
    return f"""title: A link of the family
seed: 1
duration: {seconds + WARMUP}s
warmup: {WARMUP}s
modes: [smvs]
server_proxy: {{delay: 20ms}}
proxy_nodeb: {{delay: {link.round_trip_ms // 2}ms}}
hosts: {{receive_buffer: 64MiB, send_buffer: 64MiB}}
buffers: 80000
cell:
  tti: {link.tti_ms}ms
  ues:
    - {{address: 10.45.0.2, frame: 0B, buffer: unlimited, channel: {{type: trace, file: {link.trace}}}}}
  uplink: {{delay: 0ms{', scheduled: {}' if link.scheduled else ''}}}
apps:
  - {{type: bulk}}
smvs:
  law: acks
  acks: {{{', '.join(f'{key[5:]}: {value}' for key, value in default.items() if key.startswith('acks.'))}}}
  receive_window: {{reference: {default['receive_window.reference']}}}
sweep:
{sweeps}"""


def worth(outcome, scale_ms):
    return outcome.use - POINTS_FOR_SCALE * outcome.p95_ms / scale_ms


def misses(outcome, ideal):
    """The link is to be used, and is not, or at too high a delay."""
    return ideal.use >= IDEAL_USE and (outcome.use < LEAST_USE or outcome.p95_ms > MOST_P95 * ideal.p95_ms)


@dataclasses.dataclass
class Measured:
    link: Link
    scale_ms: float
    ideal: Outcome
    by_setting: dict  # name of the setting: Outcome
    ideals: list  # of every setting of the ideal sender
    grid: list = dataclasses.field(default_factory=list)  # … what each of them is, in words


def choose(measured):
    """The setting that is best on these links; of equal ones the first."""

    def rank(setting):
        outcomes = [(each, each.by_setting[setting]) for each in measured]
        return (-sum(misses(outcome, each.ideal) for each, outcome in outcomes),
                sum(worth(outcome, each.scale_ms) for each, outcome in outcomes) / len(outcomes))
    return max((setting for setting in measured[0].by_setting if setting not in BESIDE), key=rank)


def is_judged(each):
    return each.ideal.use >= IDEAL_USE


def common_ideal(measured):
    """The number of the ideal sender's setting that is best on all links together; of equal ones the first."""

    def rank(number):
        outcomes = [(each, each.ideals[number]) for each in measured if is_judged(each)]
        return (-sum(misses(outcome, each.ideal) for each, outcome in outcomes), sum(worth(outcome, each.scale_ms) for each, outcome in outcomes))
    return max(range(len(measured[0].ideals)), key=rank)


def left_out(measured):
    """For each link the setting that is best on all others."""
    return [choose(measured[:i] + measured[i + 1:]) for i in range(len(measured))]


def ideal_of(text):
    """Scale of the link, the ideal sender's best outcome and all of them, by what ideal_links printed."""
    rows = list(csv.DictReader(io.StringIO(text)))
    scale = float(rows[0]["scale_ms"])
    outcomes = [Outcome(float(row["use"]), float(row["p95_ms"])) for row in rows]
    return scale, max(outcomes, key=lambda each: worth(each, scale)), outcomes


def grid_of(text):
    """What each setting of the ideal sender is, by what ideal_links printed; the reference goes with the link's scale."""
    return [f"memory {row['memory_ms']} ms, reference {float(row['reference_ms']) / float(row['scale_ms']):.2g} of the link's scale, "
            f"without news for {row['longest_ms']} ms, gain {row['gain']}" for row in csv.DictReader(io.StringIO(text))]


def within(outcomes, p95_ms):
    """The greatest use that the ideal sender has without more delay; nothing where it has none."""
    return max((each.use for each in outcomes if each.p95_ms <= p95_ms), default=None)


def measure(link, seconds, folder, traces, default):
    where = Path(folder) / link.trace if link.generate else Path(traces) / link.trace
    if link.generate:
        run(NODEB, "trace", "generate", "--out", where, *link.generate)
    text = run(IDEAL, where, link.tti_ms, link.round_trip_ms // 2, "scheduled" if link.scheduled else "free", seconds + WARMUP)
    scale, ideal, ideals = ideal_of(text)
    own = Path(folder) / f"{link.trace}-{link.scheduled}"
    own.mkdir()
    (own / "link.yaml").write_text(scenario(link, seconds, default), encoding="utf-8")
    run(NODEB, "run", own / "link.yaml", "--traces", where.parent, "--out", own, "--workers", 1)
    with (own / "results.csv").open(encoding="utf-8", newline="") as file:
        outcomes = {row["setting"]: Outcome(100 * float(row["utilisation"]), float(row["radio_queue_delay_p95_ms"])) for row in csv.DictReader(file)}
    print(f"links: measured {link.name}", file=sys.stderr, flush=True)
    return Measured(link, scale, ideal, outcomes, ideals, grid_of(text))


def measure_all(links, seconds, traces, workers):
    """In the order of `links`; the fastest links, which take longest, first."""
    default = default_setting()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(workers) as pool:
        futures = {pool.submit(measure, link, seconds, folder, traces, default): link
                   for link in sorted(links, key=lambda link: float(link.generate[5]) if link.generate else 5, reverse=True)}
        done = {futures[each]: each.result() for each in concurrent.futures.as_completed(futures)}
    return [done[link] for link in links]


def write_csv(file, measured):
    out = csv.writer(file)
    out.writerow(("link", "tti_ms", "round_trip_ms", "uplink", "scale_ms", "sender", "use_percent", "p95_ms"))
    for each in measured:
        link = each.link
        for sender, outcome in {"ideal": each.ideal, **each.by_setting}.items():
            out.writerow((link.name, link.tti_ms, link.round_trip_ms, "scheduled" if link.scheduled else "free", f"{each.scale_ms:.1f}", sender,
                          f"{outcome.use:.2f}", f"{outcome.p95_ms:.1f}"))


def show(outcome):
    return f"{outcome.use:.1f} %, {outcome.p95_ms:.0f} ms"


def verdict_of(each, settings, same):
    """Which of the settings miss the goal; where one does, what the goal is and what the ideal sender has with the one setting `same`."""
    if not is_judged(each):
        return "not judged"
    missing = [name for name in dict.fromkeys(settings) if misses(each.by_setting[name], each.ideal)]
    if not missing:
        return ""
    ideal = each.ideals[same]
    return (f"{', '.join(missing)}: not {LEAST_USE} % at {MOST_P95 * each.ideal.p95_ms:.0f} ms; the ideal with one setting has {show(ideal)}"
            + (", nor that" if misses(ideal, each.ideal) else ""))


def report(measured, out):
    choices = left_out(measured)
    one = common_ideal(measured)
    default = next(iter(SETTINGS))
    out.write("| link | TTI, round trip, uplink | ideal | default | ideal at that p95 | best on the others | |\n| --- | --- | --- | --- | --- | --- | --- |\n")
    for each, choice in zip(measured, choices):
        link, chosen = each.link, each.by_setting[choice]
        what = show(chosen) if choice == default else f"{show(chosen)} ({choice})"
        usual = each.by_setting[default]
        same = within(each.ideals, usual.p95_ms)
        out.write(f"| {link.name} | {link.tti_ms} ms, {link.round_trip_ms} ms, {'scheduled' if link.scheduled else 'free'} | {show(each.ideal)} "
                  f"| {show(usual)} | {'' if same is None else f'{same:.1f} %'} | {what} | {verdict_of(each, (default, choice), one)} |\n")
    judged = [each for each in measured if is_judged(each)]
    missed = sum(misses(each.by_setting[choice], each.ideal) for each, choice in zip(measured, choices))
    out.write(f"\n{len(measured)} links, {len(judged)} with an ideal of {IDEAL_USE} %. With the setting chosen on the others {missed} miss the goal. "
              f"The default was chosen {choices.count(default)} times. An ideal sender with one setting for all of them misses "
              f"{sum(misses(each.ideals[one], each.ideal) for each in judged)} ({measured[0].grid[one]}).\n\n")
    out.write(f"| setting | miss | … use below {LEAST_USE} % | … p95 above {MOST_P95} × the ideal's | mean use | mean p95 over the ideal's | mean worth |\n"
              "| --- | --- | --- | --- | --- | --- | --- |\n")
    for setting in (*SETTINGS, *BESIDE):
        pairs = [(each, each.by_setting[setting]) for each in judged]
        count = len(pairs) or 1
        out.write(f"| {setting} | {sum(misses(outcome, each.ideal) for each, outcome in pairs)} "
                  f"| {sum(outcome.use < LEAST_USE for _, outcome in pairs)} "
                  f"| {sum(outcome.p95_ms > MOST_P95 * each.ideal.p95_ms for each, outcome in pairs)} "
                  f"| {sum(outcome.use for _, outcome in pairs) / count:.1f} % "
                  f"| {sum(outcome.p95_ms / max(each.ideal.p95_ms, 1) for each, outcome in pairs) / count:.2f} "
                  f"| {sum(worth(outcome, each.scale_ms) for each, outcome in pairs) / count:.2f} |\n")


def main():
    parser = argparse.ArgumentParser(prog="./run bench links")
    parser.add_argument("--seconds", type=int, default=60, help="virtual time of each run after the warm-up (default 60)")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="links at a time (default: one for each processor)")
    parser.add_argument("--out", type=Path, default=Path("out/links.csv"), help="CSV with every run (default out/links.csv)")
    args = parser.parse_args()
    if args.seconds < 1 or args.workers < 1:
        parser.error("seconds and workers: 1 or more")
    traces = os.environ.get("SLUICE_TRACES")
    try:
        measured = measure_all(family(args.seconds, traces), args.seconds, traces, args.workers)
        args.out.parent.mkdir(parents=True, exist_ok=True)
        with args.out.open("w", encoding="utf-8", newline="") as file:
            write_csv(file, measured)
    except (OSError, RuntimeError) as problem:
        print(f"links: {problem}", file=sys.stderr)
        return 1
    report(measured, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
