#!/usr/bin/python3
"""Downloads over real QUIC (ngtcp2) and over kernel TCP to one UE in real time: use of the link, radio queue and shares, for each
treatment of what the proxy does not split. Needs root.

    servers - nodeb (hop of 20 ms) - sluice - nodeb (hop of 10 ms, radio queue without limit, radio link) - UE
"""

import argparse
import csv
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import lab as lab_module
import programs
import quic
import traffic

WARM_UP = 8  # seconds that are not counted
IP_AND_TCP = 52  # octets of an IPv4 header and a TCP header with timestamps
ETHERNET = 14
SEGMENT = 1448
CASES = ("QUIC and TCP", "QUIC alone", "TCP alone")
REPORTS = {"law": "nodeb", "parameters": {"one_way_delay": "10ms"}}
# Name, mode of the proxy, `smvs` keys of its configuration, whether the Node-B sends reports.
TREATMENTS = (
    ("no proxy", "none", None, False),
    ("forward", "smvs", {"law": "acks", "cross_traffic": "forward"}, False),
    ("queue", "smvs", {"law": "acks", "cross_traffic": "queue"}, False),
    ("queue, answers", "smvs", {"law": "acks", "cross_traffic": "queue", "uplink_answers": "count"}, False),
    ("queue, reports", "smvs", {**REPORTS, "cross_traffic": "queue"}, True),
)
PAGE = Path(__file__).resolve().parents[1] / "bench" / "figures" / "quic.md"
BEGIN, END = "<!-- quic_bench.py --write -->\n", "<!-- end -->\n"
COLUMNS = ("utilisation", "radio_queue_delay_p50_ms", "radio_queue_delay_p95_ms", "quic_mbps", "tcp_mbps")


def cell(channel):
    return {"ues": [{"address": "10.45.0.2", "frame": "0B", "buffer": "unlimited", "channel": channel}]}


class Reader(threading.Thread):
    """Reads an endless download over TCP and counts its octets."""

    def __init__(self, wire, port):
        super().__init__(daemon=True)
        client = traffic.Client(wire.server_address, wire.ue.socket, port)
        self.connection = client.connect({"do": "timed", "seconds": 3600})
        self.connection.settimeout(1)
        self.octets, self.ended = 0, False

    def run(self):
        while not self.ended:
            try:
                octets = len(self.connection.recv(1 << 20))
            except TimeoutError:
                continue
            except OSError:
                return
            if not octets:
                return
            self.octets += octets

    def stop(self):
        self.ended = True
        self.join(5)
        traffic.reset(self.connection)


def parts(total, octets):
    """Octets on the wire that QUIC and TCP brought, where `total` arrived in frames and TCP delivered `octets` of payload."""
    tcp = octets + octets / SEGMENT * (IP_AND_TCP + ETHERNET)
    return max(0.0, total - tcp), tcp


def run_once(case, treatment, congestion, channel, traces, seconds, folder):
    """One row of what COLUMNS names."""
    _, mode, smvs, reports = treatment
    with lab_module.Lab("quicbench", folder) as lab:
        proxied = mode != "none"
        wire = lab.radio(proxy=proxied)
        scenario = programs.nodeb_scenario(channel, reports, cell=cell(channel), warmup=f"{WARM_UP}s",
                                           smvs={"parameters": {"step": "5ms", "reference": "20ms"}})
        sluice = None
        if proxied:
            sluice = programs.Sluice(lab, wire.box, radio="proxy-radio", core="proxy-core", mode=mode, smvs=smvs)
        server = quic.Server(wire, folder / "server", congestion) if "QUIC" in case else None
        known = mode if reports or not proxied else "i-tcp"
        nodeb = programs.Nodeb(lab, wire.box, scenario, known, WARM_UP + seconds, traces=traces)
        began = time.monotonic()
        reader = None
        with traffic.Server(wire.server.socket, congestion="cubic") as tcp_server:
            if "TCP" in case:
                reader = Reader(wire, tcp_server.port)
                reader.start()
            bulk = None
            if "QUIC" in case:
                bulk = quic.Client(wire, server, folder / "client").endless()
            time.sleep(max(0.0, began + WARM_UP - time.monotonic()))
            total, octets, since = wire.ue.counters("eth0")["rx_bytes"], reader.octets if reader else 0, time.monotonic()
            time.sleep(seconds - 1)
            total = wire.ue.counters("eth0")["rx_bytes"] - total
            octets = (reader.octets if reader else 0) - octets
            passed = time.monotonic() - since
            if bulk and bulk.poll() is not None:
                raise lab_module.LabError(f"the QUIC download ended early\n{bulk.tail()}")
            if nodeb.process.wait(20) != 0:
                raise lab_module.LabError(f"the Node-B failed\n{nodeb.process.tail()}")
            if reader:
                reader.stop()
        if sluice:
            sluice.stop_and_check()
        results = nodeb.results()
        by_quic, by_tcp = parts(total, octets)
        return {**{name: float(results[name] or "nan") for name in COLUMNS[:3]},
                "quic_mbps": 8e-6 * by_quic / passed if bulk else 0.0, "tcp_mbps": 8e-6 * by_tcp / passed}


def row_of(case, treatment, congestion, runs):
    """Medians of the runs."""
    return {"case": case, "treatment": treatment, "congestion": congestion,
            **{name: f"{statistics.median(run[name] for run in runs):.3f}" for name in COLUMNS}}


def write_page(rows):
    """Puts the table into the page of figures."""
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    lines = ["| downloads of the UE | QUIC sender | datagrams | link used | radio queue p50, p95 | QUIC | TCP |", "|" + " --- |" * 7]
    for row in rows:
        values = {name: float(row[name]) for name in COLUMNS}
        lines.append(f"| {row['case']} | {row['congestion']} | {row['treatment']} | {100 * values['utilisation']:.1f} % | "
                     f"{values['radio_queue_delay_p50_ms']:.0f} ms, {values['radio_queue_delay_p95_ms']:.0f} ms | "
                     f"{values['quic_mbps']:.1f} Mb/s | {values['tcp_mbps']:.1f} Mb/s |")
    PAGE.write_text(head + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END)[1], encoding="utf-8")


def show(row, head):
    """Prints a row, and the names of its columns in front of it where `head` says so."""
    names = ("use %", "radio p50 ms", "radio p95 ms", "QUIC Mb/s", "TCP Mb/s")
    if head:
        print(f"{'case':14}{'QUIC sender':12}{'treatment':16}" + "".join(f"{name:>14}" for name in names))
    values = [100 * float(row["utilisation"])] + [float(row[name]) for name in COLUMNS[1:]]
    print(f"{row['case']:14}{row['congestion']:12}{row['treatment']:16}" + "".join(f"{value:14.1f}" for value in values), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./run bench quic")
    parser.add_argument("--seconds", type=float, default=30, help="of each run that are counted (default 30)")
    parser.add_argument("--repeat", type=int, choices=range(1, 11), default=1, help="each run so often; medians are shown")
    parser.add_argument("--congestion", choices=("cubic", "reno", "bbr", "bbr2"), action="append",
                        help="congestion control of the QUIC server (default cubic and bbr2)")
    parser.add_argument("--trace", type=Path, help="a recorded link (default: a constant link of 20 Mb/s)")
    parser.add_argument("--out", type=Path, help="a CSV file for the table")
    parser.add_argument("--write", type=Path, help="measure nothing; put this CSV file's table into tests/bench/figures/quic.md")
    args = parser.parse_args()
    if args.write:
        with open(args.write, newline="", encoding="utf-8") as file:
            write_page(list(csv.DictReader(file)))
        return 0
    reason = lab_module.why_not() or quic.MISSING
    if reason:
        print(f"quic: {reason}", file=sys.stderr)
        return 1
    channel = {"type": "trace", "file": args.trace.name} if args.trace else {"type": "constant", "rate": "20Mb/s"}
    lab_module.exit_on_sigterm()
    rows = []
    for case in CASES:
        for congestion in (args.congestion or ["cubic", "bbr2"]) if "QUIC" in case else ["-"]:
            for treatment in TREATMENTS:
                runs = []
                for _ in range(args.repeat):
                    with tempfile.TemporaryDirectory(prefix="sluice-quic-") as short:  # Unix sockets want short paths
                        runs.append(run_once(case, treatment, congestion, channel, args.trace and args.trace.parent.resolve(),
                                             args.seconds, Path(short)))
                rows.append(row_of(case, treatment[0], congestion, runs))
                show(rows[-1], head=len(rows) == 1)
    if args.out:
        with open(args.out, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
