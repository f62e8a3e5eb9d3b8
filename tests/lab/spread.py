#!/usr/bin/python3
"""What a UE feels when its proxy goes: how long packets stay away, and when reports follow. See configs/inline/scaling-out.md.

Three proxies between two routers, as in instances.py. A numbered datagram goes from the server to a UE each millisecond;
the gap is the longest time between two that arrived, from the event on. Reports are watched on the Node-B's wire, from the
first status with which the next proxy claims the UE."""

import argparse
import contextlib
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import instances
import programs
import traffic
from lab import Lab, LabError, exit_on_sigterm, why_not
from report_watch import Reports

PORT = 7001
NOTHING_AHEAD = {"limits": {"exposure_per_flow": "0B"}}


class Stream:
    """A datagram each millisecond from the server to a UE; when they came."""

    def __init__(self, spread, address):
        self.came = []
        self._out, self._in = spread.server.socket(kind=socket.SOCK_DGRAM), spread.ue.socket(kind=socket.SOCK_DGRAM)
        self._in.bind((address, PORT))
        self._in.settimeout(0.5)
        self._to = (address, PORT)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def _send(self):
        while not self._ended.wait(0.001):
            self._out.sendto(b"x", self._to)

    def _receive(self):
        while not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                self._in.recv(64)
                self.came.append(time.monotonic())

    def end(self):
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._out.close()
        self._in.close()

    def longest_gap(self, since):
        times = [at for at in self.came if at >= since - 0.05]
        return max(b - a for a, b in zip(times, times[1:]))


def client(spread, server, ue=0):
    return traffic.Client(spread.wire.server_address, spread.ue.socket, server.port, source=spread.wire.ue_addresses[ue])


def holder_of(proxies, ue):
    """The path on which this UE's connections are split."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for path, proxy in proxies.items():
            if any(flow["ue"].startswith(ue + " ") for flow in proxy.ask("flows")):
                return path
        time.sleep(0.01)
    raise LabError("nobody split the UE's connection")


def gap(folder, event):
    """Seconds without a packet for one UE around the event, under the load of a download of each of eight UEs; and before."""
    with Lab("spread", folder) as lab:
        spread = instances.Spread(lab, ues=8)
        spread.over(0, 1, 2)
        proxies = {path: programs.Sluice(lab, spread.boxes[path], name=f"proxy{path}", **NOTHING_AHEAD) for path in range(3)}
        with traffic.Server(spread.server.socket) as server:
            downloads = [client(spread, server, ue).connect({"do": "timed", "seconds": 8}) for ue in range(8)]
            readers = [threading.Thread(target=drop, args=(each,), daemon=True) for each in downloads]
            for reader in readers:
                reader.start()
            stream = Stream(spread, spread.wire.ue_address)
            path = holder_of(proxies, spread.wire.ue_address)
            time.sleep(1)
            quiet = stream.longest_gap(time.monotonic() - 0.9)
            began = event(spread, proxies, path)
            time.sleep(1.5)
            stream.end()
            for each in downloads:
                each.close()
            return stream.longest_gap(began), quiet


def drop(connection):
    """Reads about 6 Mb/s."""
    with contextlib.suppress(OSError):
        while connection.recv(1 << 14):
            time.sleep(0.02)


def drained(spread, proxies, path):
    proxies[path].ask("drain")
    while proxies[path].ask("drain", "status")["still_split"]:
        time.sleep(0.02)
    began = time.monotonic()
    spread.over(*(each for each in range(3) if each != path))
    return began


def unplugged(spread, _proxies, path):
    began = time.monotonic()
    spread.pull(path)
    return began


LAWS = {"5ms": {"step": "5ms", "reference": "20ms"}, "20ms": {"step": "20ms", "reference": "20ms", "delta": 20}}


def follow(folder, period):
    """How many reports went elsewhere after the next proxy's claim, and seconds from the claim to the first report that
    went there alone. The proxy that had the UE is drained."""
    with Lab("follow", folder) as lab:
        spread = instances.Spread(lab, ues=1, radio=True)
        spread.over(0, 1, 2)
        proxies = {path: programs.Sluice(lab, spread.boxes[path], name=f"proxy{path}", mode="smvs",
                                         feedback=spread.feedback(path)) for path in range(3)}
        scenario = programs.nodeb_scenario({"type": "constant", "rate": "20Mb/s"}, warmup="1s", reports={"delay": "0s"},
                                           smvs={"parameters": LAWS[period]}, live={"feedback": spread.node_b_feedback()})
        reports = Reports(spread.node_b)
        programs.Nodeb(lab, spread.node_b, scenario, "smvs", 60)
        with traffic.Server(spread.server.socket) as server, client(spread, server).connect({"do": "take"}):
            path = holder_of(proxies, spread.wire.ue_address)
            client(spread, server).download(500_000)
            drained(spread, proxies, path)
            client(spread, server).download(2_000_000)
            time.sleep(0.5)
        reports.close()
        others = {spread.feedback_address(each): reports.claim(spread.feedback_address(each)) for each in range(3)
                  if each != path}
        (now, at), = ((address, at) for address, at in others.items() if at is not None)
        claimed = reports.seen[at].at
        late = sum(each.report and each.proxy != now for each in reports.seen[at:])
        first = next(each.at for each in reports.seen[at:] if each.report and each.proxy == now)
        return late, first - claimed


def milliseconds(values):
    values = sorted(1000 * value for value in values)
    return f"{values[0]:.1f} … {values[-1]:.1f} ms, median {statistics.median(values):.1f} ms"


def main():
    parser = argparse.ArgumentParser(prog="./run bench instances")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each row (default 5)")
    args = parser.parse_args()
    exit_on_sigterm()
    if problem := why_not() or instances.why_not():
        parser.error(problem)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, event in (("drained, then taken out of both groups", drained), ("both cables pulled", unplugged)):
                runs = [gap(Path(folder) / f"{name}-{i}", event) for i in range(args.repeat)]
                print(f"{name}, longest gap: {milliseconds([run[0] for run in runs])}; "
                      f"before {milliseconds([run[1] for run in runs])}", flush=True)
            for period in LAWS:
                runs = [follow(Path(folder) / f"{period}-{i}", period) for i in range(args.repeat)]
                print(f"reports each {period:4}, claim to first report: {milliseconds([run[1] for run in runs])}; "
                      f"reports elsewhere after it: {max(run[0] for run in runs)} at most", flush=True)
    except LabError as problem:
        print(f"instances: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
