#!/usr/bin/python3
"""What a user feels in real time: pages by curl, a video's first segment and probes of kernel hosts, alone and beside an
endless download by curl, over the same seconds of the same varying radio link in each mode. Needs root.

    server - nodeb (hop of 20 ms) - sluice - nodeb (hop of 10 ms, radio queue, radio link) - UE
"""

import argparse
import csv
import dataclasses
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path

import lab as lab_module
import programs

WEB = Path(__file__).parent / "web.py"
WHAT = ("page", "first segment", "probe")
SETTLE = 4  # seconds that the download has before the user comes
CHANNEL = {"type": "generated",
           "model": {"mean": "8Mb/s", "speed": "3km/h", "snr": "12dB", "shadowing": "6dB", "length": "60s", "seed": 1}}
# Student's t at 97.5 %, by degrees of freedom.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    mode: str
    congestion: str = "cubic"  # of the server
    smvs: dict = dataclasses.field(default_factory=dict)
    reports: bool = False


MODES = (
    Mode("cubic", "none"),
    Mode("bbr", "none", "bbr"),
    Mode("i-tcp", "i-tcp"),
    Mode("smvs", "smvs", smvs={"law": "nodeb", "parameters": {"one_way_delay": "10ms"}}, reports=True),
    Mode("smvs by acks", "smvs", smvs={"law": "acks"}),
)


def run_once(mode, beside, seconds, seed, folder):
    """Mean seconds of each thing that the user did."""
    with lab_module.Lab("user", folder) as lab:
        proxied = mode.mode != "none"
        wire = lab.radio(proxy=proxied)
        scenario = programs.nodeb_scenario(CHANNEL, mode.reports, warmup="1s",
                                           smvs={"parameters": {"step": "5ms", "reference": "20ms"}})
        sluice = None
        if proxied:
            settings = programs.merge({"tcp": {"congestion": "cubic"}}, {"smvs": mode.smvs} if mode.smvs else {})
            sluice = programs.Sluice(lab, wire.box, radio="proxy-radio", core="proxy-core", mode=mode.mode, **settings)
        server = wire.server.start("server", sys.executable, WEB, "serve", "--congestion", mode.congestion)
        server.wait_for("listening")
        known = mode.mode if mode.reports or not proxied else "i-tcp"
        programs.Nodeb(lab, wire.box, scenario, known, seconds + SETTLE + 120)
        url = f"http://{wire.server_address}:8080"
        if beside:
            wire.ue.start("download", "curl", "--silent", "--output", "/dev/null", f"{url}/endless")
        time.sleep(SETTLE)
        user = wire.ue.start("user", sys.executable, WEB, "user", "--server", wire.server_address, "--seconds", seconds,
                             "--seed", seed)
        if user.wait(seconds + 180) != 0:
            raise lab_module.LabError(f"the user failed\n{user.tail()}")
        if sluice:
            sluice.stop_and_check()
    samples = {what: [] for what in WHAT}
    for line in (folder / "user.log").read_text(encoding="utf-8").splitlines():
        if line.startswith("{"):
            sample = json.loads(line)
            samples[sample["what"]].append(sample["seconds"])
    return {what: statistics.mean(times) for what, times in samples.items()}


def interval(values):
    """Half of the 95 % confidence interval of their mean."""
    if len(values) < 2:
        return 0.0
    return STUDENT[min(len(values) - 1, len(STUDENT)) - 1] * statistics.stdev(values) / math.sqrt(len(values))


def row_of(mode, runs):
    """What `runs` (alone, beside) came to: milliseconds beside the download, and their ratio over those alone."""
    row = {"mode": mode.name}
    for what in WHAT:
        ratios = [beside[what] / alone[what] for alone, beside in runs]
        name = what.replace(" ", "_")
        row[f"{name}_ms"] = f"{1000 * statistics.mean(beside[what] for _, beside in runs):.0f}"
        row[f"ratio_{name}"] = f"{statistics.mean(ratios):.2f}"
        row[f"ratio_{name}_ci"] = f"{interval(ratios):.2f}"
    return row


def show(rows):
    print(f"{'mode':14}" + "".join(f"{what + ' ms':>20}{'x alone':>16}" for what in WHAT))
    for row in rows:
        cells = ""
        for what in WHAT:
            name = what.replace(" ", "_")
            ratio = f"{row['ratio_' + name]} ± {row['ratio_' + name + '_ci']}"
            cells += f"{row[name + '_ms']:>20}{ratio:>16}"
        print(f"{row['mode']:14}{cells}")


def main():
    parser = argparse.ArgumentParser(prog="./run bench user")
    parser.add_argument("--seconds", type=float, default=20, help="that the user has in each run (default 20)")
    parser.add_argument("--repeat", type=int, choices=range(1, 11), default=1, help="each mode so often")
    parser.add_argument("--mode", choices=[mode.name for mode in MODES], action="append", help="only this one")
    parser.add_argument("--out", type=Path, help="a CSV file for the table")
    args = parser.parse_args()
    reason = lab_module.why_not()
    if reason:
        print(f"user: {reason}", file=sys.stderr)
        return 1
    lab_module.exit_on_sigterm()
    rows = []
    for mode in MODES:
        if args.mode and mode.name not in args.mode:
            continue
        runs = []
        for seed in range(1, args.repeat + 1):
            with tempfile.TemporaryDirectory(prefix="sluice-user-") as short:  # Unix sockets want short paths
                pair = []
                for beside in (False, True):
                    folder = Path(short) / ("beside" if beside else "alone")
                    folder.mkdir()
                    pair.append(run_once(mode, beside, args.seconds, seed, folder))
                runs.append(tuple(pair))
            print(f"{mode.name}: {seed} of {args.repeat} done", file=sys.stderr)
        rows.append(row_of(mode, runs))
    show(rows)
    if args.out:
        with open(args.out, "w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
