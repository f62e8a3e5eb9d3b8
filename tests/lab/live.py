#!/usr/bin/python3
"""A network to try things in: kernel hosts, a radio link in real time and the proxy, from the files of configs/live.

    server - nodeb (hop of 20 ms) - sluice - nodeb (hop of 10 ms, radio queue, radio link) - UE

It prints how to enter each part and waits for Ctrl-C. With a command after -- it runs that on the UE, and ends. Everything
that it made is removed then; what the programs wrote stays in out/lab."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import lab as lab_module
import programs

LIVE = programs.ROOT / "configs" / "live"
FILES = {"1MB": 1_000_000, "10MB": 10_000_000, "100MB": 100_000_000}
CHANNEL = re.compile(r"^( *channel: ).*$", re.MULTILINE)
NO_PROXY = "none"


@dataclass(frozen=True)
class Pair:
    """The two files of a mode; without a proxy only the Node-B's is used."""

    mode: str
    nodeb: Path
    sluice: Path | None

    @staticmethod
    def of(mode):
        if mode == NO_PROXY:
            return Pair(mode, LIVE / "i-tcp.nodeb.yaml", None)
        return Pair(mode, LIVE / f"{mode}.nodeb.yaml", LIVE / f"{mode}.sluice.yaml")


def modes():
    """Those that configs/live has a pair for, and no proxy."""
    return [*sorted(file.name.removesuffix(".sluice.yaml") for file in LIVE.glob("*.sluice.yaml")), NO_PROXY]


def with_channel(scenario, channel):
    """A scenario's text with another link for its UE."""
    changed, count = CHANNEL.subn(lambda found: found[1] + channel, scenario)
    if count != 1:
        raise lab_module.LabError(f"one line with channel: is needed in the Node-B's file, it has {count}")
    return changed


def channel_of(args):
    """The link that was asked for as YAML; None: that of the file."""
    if args.rate:
        return programs.to_yaml({"type": "constant", "rate": args.rate}).replace("\n", "")
    if args.trace:
        return programs.to_yaml({"type": "trace", "file": str(args.trace.resolve())}).replace("\n", "")
    return None


class LiveNetwork:
    """The programs and hosts of one pair of files, running."""

    def __init__(self, lab, pair, channel):
        self.lab = lab
        self.pair = pair
        self.socket = lab.log_dir / "sluice.sock"
        self.wire = lab.radio(proxy=pair.sluice is not None)
        self._box = self.wire.box
        self._nodeb = None
        self.processes = []
        self.iperf3 = False
        if pair.sluice:
            self._start_sluice()
        self._start_nodeb(channel)
        self._start_servers()

    def _start_sluice(self):
        """The file as it is, and where this run's socket is."""
        file = self.lab.log_dir / "sluice.yaml"
        file.write_text(self.pair.sluice.read_text(encoding="utf-8") + f"admin: {{ socket: {self.socket} }}\n",
                        encoding="utf-8")
        sluice = self._start("sluice", programs.program("sluice"), file)
        sluice.wait_for("running", timeout=30)

    def _start_nodeb(self, channel):
        file = self.lab.log_dir / "nodeb.yaml"
        scenario = self.pair.nodeb.read_text(encoding="utf-8")
        file.write_text(with_channel(scenario, channel) if channel else scenario, encoding="utf-8")
        self._check(file)
        mode = [] if self.pair.sluice else ["--mode", NO_PROXY]
        self._nodeb = self._start("nodeb", programs.program("nodeb"), "live", file, *mode, "--out", self.lab.log_dir / "results")
        self._nodeb.wait_for("ready: ", timeout=30)

    @staticmethod
    def _check(scenario):
        """What is wrong with it, in the words of nodeb, before anything is begun."""
        check = subprocess.run([programs.program("nodeb"), "--check", scenario], capture_output=True, text=True, check=False)
        if check.returncode:
            raise lab_module.LabError(check.stderr.strip())

    def _start(self, name, *words):
        runtime = self.lab.log_dir / f"{name}-runtime"
        runtime.mkdir()
        started = self._box.start(name, *words, environment={"XDG_RUNTIME_DIR": str(runtime)}, urgent=True)
        self.processes.append(started)
        return started

    def _start_servers(self):
        www = self.lab.log_dir / "www"
        www.mkdir()
        for name, size in FILES.items():
            with open(www / name, "wb") as file:
                file.truncate(size)
        server = self.wire.server
        http = server.start("http", sys.executable, "-u", "-m", "http.server", "80", "--bind", "::", "--directory", www)  # IPv4 too
        http.wait_for("Serving HTTP")
        self.processes.append(http)
        self.iperf3 = shutil.which("iperf3") is not None
        if self.iperf3:
            iperf = server.start("iperf3", "iperf3", "--server", "--forceflush")
            iperf.wait_for("Server listening")
            self.processes.append(iperf)

    def end_nodeb(self):
        """It writes its results, which a second signal would not let it do."""
        self._nodeb.stop()

    def ended(self):
        """The first program that is no longer there."""
        return next((process for process in self.processes if process.poll() is not None), None)

    def describe(self, out):
        """The picture, the addresses, and how to enter."""
        wire = self.wire
        inside = f"ip netns exec {wire.ue.name}"
        lines = [picture(self.pair), "", f"{'UE':8} {wire.ue_address}, {wire.ue_addresses6[0]}",
                 f"{'server':8} {wire.server_address}, {wire.server_address6}",
                 f"{'files':8} {self.pair.nodeb.relative_to(programs.ROOT)}"
                 + (f", {self.pair.sluice.relative_to(programs.ROOT)}" if self.pair.sluice else ""),
                 f"{'logs':8} {self.lab.log_dir} while it runs, then {out}", "",
                 "On the UE:", f"  {inside} curl -o /dev/null http://{wire.server_address}/10MB   # also 1MB, 100MB",
                 f"  {inside} curl -o /dev/null http://[{wire.server_address6}]/10MB"]
        if self.iperf3:
            lines.append(f"  {inside} iperf3 -c {wire.server_address} -R   # without -R: up")
        if shutil.which("ping"):
            lines.append(f"  {inside} ping -c 3 {wire.server_address}")
        lines += [f"  {inside} bash", "On the server:",
                  f"  ip netns exec {wire.server.name} bash", "Between them:", f"  ip netns exec {wire.box.name} ip -br link"]
        if self.pair.sluice:
            lines += ["The proxy:", f"  {programs.program('sluicectl')} --socket {self.socket} flows   # also status, bearers, …"]
        return "\n".join(lines)


def picture(pair):
    """Who is connected to whom, and by which interfaces."""
    if not pair.sluice:
        return "server -- core [ nodeb: hop, radio queue, radio link ] radio -- UE"
    lines = ["server -- core [ nodeb ] hop -- proxy-core [ sluice ] proxy-radio -- cell [   nodeb   ] radio -- UE",
             "               20 ms                              ^                       10 ms, queue,",
             "                                                  '----- reports, UDP ----- radio link"]
    if "feedback:" not in pair.sluice.read_text(encoding="utf-8"):
        lines[1:] = [line.replace("^", " ").replace("'----- reports, UDP -----", " " * 25) for line in lines[1:]]
    return "\n".join(lines)


def wait_for_the_end(network):
    """Until Ctrl-C, SIGTERM, or until a program ends by itself."""
    print("\nCtrl-C ends it.", flush=True)
    while (ended := network.ended()) is None:
        time.sleep(0.2)
    raise lab_module.LabError(f"{ended.name} ended with {ended.poll()}\n{ended.tail()}")


def run_on_the_ue(network, command):
    """A command on the UE, with sluicectl's socket in its environment; its exit code."""
    environment = dict(os.environ, SLUICE_SOCKET=str(network.socket), LAB_SERVER=network.wire.server_address)
    return subprocess.run(["ip", "netns", "exec", network.wire.ue.name, *command], env=environment, check=False).returncode


def live(args, log_dir):
    with lab_module.Lab("live", log_dir) as lab:
        network = LiveNetwork(lab, Pair.of(args.mode), channel_of(args))
        # A command has standard output for itself.
        print(network.describe(args.out), file=sys.stderr if args.command else sys.stdout, flush=True)
        try:
            code = run_on_the_ue(network, args.command) if args.command else 0
            if args.keep or not args.command:
                wait_for_the_end(network)
        finally:
            network.end_nodeb()
    return code


def options(words):
    parser = argparse.ArgumentParser(prog="./run lab", usage="./run lab [options] [-- COMMAND...]", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mode", choices=modes(), default="smvs", help="the pair of configs/live (default smvs)")
    link = parser.add_mutually_exclusive_group()
    link.add_argument("--rate", help="a constant radio link, 20Mb/s say")
    link.add_argument("--trace", type=Path, help="a recorded one: a file in Mahimahi's format")
    parser.add_argument("--keep", action="store_true", help="stay after the command, until Ctrl-C")
    parser.add_argument("--out", type=Path, default=programs.ROOT / "out" / "lab", help="folder for what the programs wrote")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="runs on the UE, and its end is the end of all")
    args = parser.parse_args(words)
    if args.trace and not args.trace.is_file():
        parser.error(f"--trace: there is no file {args.trace}")
    programs.make_folder(parser, args.out)
    return args


def keep_logs(source, out):
    """What the programs wrote goes to out, over what an earlier run left; sockets and the files that were served do not."""
    shutil.copytree(source, out, dirs_exist_ok=True,
                    ignore=lambda _, names: [n for n in names if n.endswith((".sock", "-runtime")) or n == "www"])


def main():
    args = options(sys.argv[1:])
    lab_module.exit_on_sigterm()
    lab_module.leave_on_ctrl_c()
    try:
        reason = lab_module.why_not()
    except KeyboardInterrupt:
        return 130
    if reason:
        print(f"lab: {reason} (./run demo --virtual needs nothing)", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="sluice-lab-") as short:  # Unix sockets want short paths
        try:
            return live(args, Path(short))
        except KeyboardInterrupt:
            print(f"\neverything is removed; logs and results: {args.out}", flush=True)
            return 130 if args.command else 0
        except lab_module.LabError as problem:
            print(f"lab: {problem}", file=sys.stderr)
            return 1
        finally:
            keep_logs(short, args.out)


if __name__ == "__main__":
    sys.exit(main())
