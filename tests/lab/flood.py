#!/usr/bin/python3
"""What a flood of SYNs from very many sources takes from a download through the proxy (`i-tcp`), beside one of as many
datagrams of the same length: both cost the kernel and the generator the same.

Kernel hosts over net_af_packet; the three take turns, and the table has the best of each. Real time: needs root, and a
machine with nothing else to do."""

import argparse
import re
import sys
import tempfile
from pathlib import Path

import lab as lab_module
import programs
import traffic

FLOOD = programs.BUILD / "bench" / "flood"
PER_SECOND, SOURCES = 20_000, 100_000
KINDS = ("none", "udp", "syn")


def start(wire, kind, seconds):
    """Frames of that kind from the UE's side to the server."""
    return wire.ue.start(f"flood-{kind}", FLOOD, "eth0", kind, PER_SECOND, seconds, SOURCES, wire.ue.mac("eth0"),
                         wire.server.mac("eth0"))


def sent(flood):
    """How many frames it sent, once it is over."""
    if flood.wait(60) != 0:
        raise lab_module.LabError(f"the generator failed\n{flood.tail()}")
    return int(re.findall(r"\d+", flood.output())[-1])


def rate_under(wire, client, kind, seconds):
    """Bits a second of one download while the flood lasts."""
    flood = start(wire, kind, seconds + 1) if kind != "none" else None
    rate = traffic.run_bulk(client, seconds)["bytes"] * 8 / seconds
    if flood and sent(flood) < PER_SECOND * seconds / 2:
        raise lab_module.LabError(f"the generator sent less than half of {PER_SECOND} frames a second")
    return rate


def measure(seconds, repeat):
    """The best rate under each kind."""
    with tempfile.TemporaryDirectory() as folder, lab_module.Lab("flood", Path(folder)) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp")
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            turns = [{kind: rate_under(wire, client, kind, seconds) for kind in KINDS} for _ in range(repeat)]
        sluice.stop_and_check()
    return {kind: max(turn[kind] for turn in turns) for kind in KINDS}


def main():
    parser = argparse.ArgumentParser(prog="./run bench flood")
    parser.add_argument("--seconds", type=int, default=3, metavar="N")
    parser.add_argument("--repeat", type=int, default=3, metavar="N")
    arguments = parser.parse_args()
    lab_module.exit_on_sigterm()
    if reason := lab_module.why_not():
        sys.exit(f"bench flood: {reason}")
    best = measure(arguments.seconds, arguments.repeat)
    print("| no flood | as many datagrams | SYNs | SYNs / no flood |\n| --- | --- | --- | --- |")
    print("| " + " | ".join(f"{best[kind] / 1e6:.0f} Mb/s" for kind in KINDS) + f" | {best['syn'] / best['none']:.2f} |")


if __name__ == "__main__":
    main()
