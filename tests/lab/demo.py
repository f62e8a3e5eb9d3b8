#!/usr/bin/python3
"""The demonstration. With --live it goes on until it is stopped: demo_live.py. Else: the same seconds of the same varying
radio link without a proxy, with a plain split (i-tcp), with the window steered by the radio queue (smvs), and with the
window steered by the UE's acknowledgements while no Node-B reports.

As root the endpoints are the kernel's TCP in network namespaces and everything runs in real time:

    server - nodeb (hop of 20 ms) - sluice - nodeb (hop of 10 ms, radio queue, radio link) - UE

Without root, or with --virtual, the built-in hosts play the same in virtual time."""

import argparse
import contextlib
import csv
import dataclasses
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import captures
import demo_live
import lab as lab_module
import programs

SCENARIO = programs.ROOT / "configs" / "scenarios" / "demo-virtual.yaml"
TITLE = "A varying cellular link, with and without the proxy"
DESCRIPTION = ("One UE downloads without end (kernel TCP, CUBIC) and fetches web pages beside it, over {seconds:.0f} seconds of "
               "a link drawn from the emulator's fading model; the same link without a proxy, with a plain split (i-tcp), "
               "with the window steered by the radio queue that the Node-B reports (smvs), and by the UE's acknowledgements "
               "alone, while no Node-B reports anything (smvs by acks). Real time, {host}.")
WARM_UP = 4
SECONDS = 25
LAW = {"step": "5ms", "reference": "20ms"}
CHANNEL = {"type": "generated",
           "model": {"mean": "8Mb/s", "speed": "3km/h", "snr": "12dB", "shadowing": "6dB", "length": "60s", "seed": 1}}


@dataclasses.dataclass(frozen=True)
class Run:
    """One row of the table."""

    name: str  # as results.csv has it
    mode: str
    smvs: dict = dataclasses.field(default_factory=dict)  # the proxy's section
    reports: bool = False  # the Node-B reports its queues to the proxy

    @property
    def label(self):
        return "no proxy" if self.mode == "none" else self.name


RUNS = (
    Run("none", "none"),
    Run("i-tcp", "i-tcp", reports=True),
    Run("smvs", "smvs", {"law": "nodeb", "parameters": {"one_way_delay": "10ms"}}, reports=True),
    Run("smvs by acks", "smvs", {"law": "acks"}),
)
WIDTH = max(len(run.label) for run in RUNS)


class Progress:
    """One line that changes on a terminal, a line every five seconds elsewhere."""

    def __init__(self):
        self._terminal = sys.stderr.isatty()
        self._next = 0.0

    def say(self, text):
        if self._terminal:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() >= self._next:
            print(text, file=sys.stderr, flush=True)
            self._next = time.monotonic() + 5

    def done(self, text):
        print(f"\r\033[K{text}" if self._terminal else text, file=sys.stderr, flush=True)
        self._next = 0.0


def proxy_for(lab, box, run):
    return programs.Sluice(lab, box, radio="proxy-radio", core="proxy-core", mode=run.mode,
                           **programs.merge({"tcp": {"congestion": "cubic"}}, {"smvs": run.smvs} if run.smvs else {}))


def watch(wire, nodeb, label, seconds, progress):
    """Waits for the end of the run and says how it goes."""
    began, before = time.monotonic(), wire.ue.counters("eth0")["rx_bytes"]
    last = began
    while nodeb.process.poll() is None:
        time.sleep(1)
        now, received = time.monotonic(), wire.ue.counters("eth0")["rx_bytes"]
        rate = (received - before) * 8 / 1e6 / (now - last)
        progress.say(f"{label:{WIDTH}} {min(now - began, seconds):3.0f} of {seconds:.0f} s  {rate:6.2f} Mb/s to the UE")
        before, last = received, now
        if now - began > seconds + 30:
            raise lab_module.LabError(f"nodeb does not end\n{nodeb.process.tail()}")
    if nodeb.process.poll() != 0:
        raise lab_module.LabError(f"nodeb ended with {nodeb.process.poll()}\n{nodeb.process.tail()}")


def run_once(run, seconds, log_dir, progress):
    """One real-time run; returns nodeb's results folder."""
    label = run.label
    progress.say(f"{label:{WIDTH}} starting")
    with lab_module.Lab(f"demo-{run.mode}", log_dir) as lab:
        proxied = run.mode != "none"
        wire = lab.radio(proxy=proxied)
        scenario = programs.nodeb_scenario(CHANNEL, run.reports, warmup=f"{WARM_UP}s", smvs={"parameters": LAW})
        sluice = proxy_for(lab, wire.box, run) if proxied else None
        server = wire.server.start("server", sys.executable, Path(__file__).parent / "traffic.py", "serve")
        server.wait_for("listening")
        # A Node-B that reports nothing knows only that there is a proxy, or that there is none.
        known = run.mode if run.reports or not proxied else "i-tcp"
        nodeb = programs.Nodeb(lab, wire.box, scenario, known, seconds)
        client = [sys.executable, Path(__file__).parent / "traffic.py"]
        to_server = ["--server", wire.server_address, "--seconds", seconds]
        wire.ue.start("bulk", *client, "bulk", *to_server, "--out", log_dir / "bulk.json")
        web = wire.ue.start("web", *client, "web", *to_server, "--seed", 7)
        watch(wire, nodeb, label, seconds, progress)
        web.stop(1)
        if sluice:
            (log_dir / "counters.json").write_text(json.dumps(sluice.counters(), indent=1), encoding="utf-8")
            sluice.stop_and_check()
    return nodeb.out


def objects_of(log):
    """Seconds of each object that the web client had after the warm-up, from its log."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    return [line["seconds"] for line in lines if line.get("at", 0) >= WARM_UP]


def rewrite(file, change):
    """Changes every row of a CSV file."""
    with open(file, newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream)
        columns, rows = reader.fieldnames, list(reader)
    for row in rows:
        change(row)
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def complete(folder, run, objects):
    """Puts into the results that nodeb wrote what it cannot know: the client's fetch times, and the run's name."""

    def add_fetches(row):
        row["mode"], row["fetches"] = run.name, str(len(objects))
        for column, share in (("fetch_p50_ms", 0.50), ("fetch_p95_ms", 0.95)):
            value = captures.percentile(objects, share)
            row[column] = "" if value is None else f"{value * 1000:.6g}"

    rewrite(folder / "results.csv", add_fetches)
    rewrite(folder / "series.csv", lambda row: row.update(mode=run.name))


def run_nodeb(*words):
    """nodeb to its end; its exit code. Where it is stopped it has time to remove what it has begun."""
    nodeb = subprocess.Popen([programs.program("nodeb"), *words])
    try:
        return nodeb.wait()
    except KeyboardInterrupt:
        # The terminal has told it too, and a second signal would end it at once.
        with contextlib.suppress(subprocess.TimeoutExpired):
            nodeb.wait(3)
        raise
    finally:
        nodeb.terminate()
        nodeb.wait()


def real_time(seconds, out):
    progress = Progress()
    logs = out / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    folders = []
    print(f"real time: kernel TCP in network namespaces, {len(RUNS)} runs of {seconds:.0f} s", file=sys.stderr)
    for run in RUNS:
        name = run.name.replace(" ", "-")
        # Unix sockets want short paths.
        with tempfile.TemporaryDirectory(prefix="sluice-demo-") as short:
            try:
                results = run_once(run, seconds, Path(short), progress)
                objects = objects_of(Path(short) / "web.log")
                complete(results, run, objects)
            finally:
                shutil.copytree(short, logs / name, ignore=lambda folder, names: [n for n in names if n.endswith(".sock")])
        folders.append(logs / name / results.name)
        median = statistics.median(objects) * 1000 if objects else float("nan")
        progress.done(f"{run.label:{WIDTH}} done: {len(objects)} small fetches, median {median:.0f} ms")
    description = DESCRIPTION.format(seconds=seconds, host="kernel hosts in network namespaces")
    return run_nodeb("report", "--out", out, "--title", TITLE, "--description", description, *folders)


def virtual_time(out):
    print("virtual time: built-in hosts", file=sys.stderr)
    return run_nodeb("run", SCENARIO, "--out", out)


def live(out):
    """Until Ctrl-C."""
    try:
        demo_live.run(programs.nodeb_scenario(CHANNEL, warmup="0s", smvs={"parameters": LAW}), out / "logs" / "live")
    except KeyboardInterrupt:
        print(f"\neverything is removed; logs: {out / 'logs' / 'live'}", flush=True)
    return 0


def options():
    parser = argparse.ArgumentParser(prog="./run demo")
    parser.add_argument("--live", action="store_true", help="until Ctrl-C, with pages for a browser (root)")
    parser.add_argument("--virtual", action="store_true", help="in virtual time, which needs no root")
    parser.add_argument("--seconds", type=float, help=f"of each real-time run (default {SECONDS})")
    parser.add_argument("--out", type=Path, default=programs.ROOT / "out" / "demo", help="folder for tables and report")
    args = parser.parse_args()
    if args.live and args.virtual:
        parser.error("--live is in real time")
    if args.seconds is not None and (args.live or args.virtual):
        parser.error("--seconds is for runs in real time, which end by themselves")
    args.seconds = SECONDS if args.seconds is None else args.seconds
    if not WARM_UP + 1 < args.seconds < math.inf:
        parser.error(f"--seconds: more than {WARM_UP + 1}, the warm-up is not measured")
    programs.make_folder(parser, args.out)
    return args


def demo(args):
    """Its exit code."""
    reason = None if args.virtual else lab_module.why_not()
    if reason:
        print(f"not in real time: {reason}", file=sys.stderr)
    if args.live:
        return 1 if reason else live(args.out)
    code = virtual_time(args.out) if args.virtual or reason else real_time(args.seconds, args.out)
    if code == 0:
        print(f"Report: {args.out / 'report.html'}")
    return code


def main():
    args = options()
    lab_module.exit_on_sigterm()
    lab_module.leave_on_ctrl_c()
    try:
        return demo(args)
    except KeyboardInterrupt:
        print("\ndemo: stopped before its end; everything that it started is removed", file=sys.stderr)
        return 130
    except lab_module.LabError as problem:
        print(f"demo: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
