#!/usr/bin/python3
"""What keeps packet buffers from others, and how much of their traffic these keep meanwhile.

    overload.py [KIND...] [--rounds 3] [--seconds 4] [--bulk]

The others are a TCP download and UDP (steady.py) of a UE of its own. Each round measures them without the load and with
it, for equally long; the table has the ratios. `--control` puts the kernel's bridge in the proxy's place: what hosts and
wires alone take from each other."""

import argparse
import contextlib
import hashlib
import json
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import lab as lab_module
import programs
import traffic
from raw_tcp import RawHost

STEADY = Path(__file__).resolve().parent / "steady.py"
RAW_ADDRESS = "10.45.200.1"
PATIENCE = 60


class Others:
    """One TCP download and UDP towards the last UE, each program urgent: it is not their processor that they lose."""

    def __init__(self, lab, wire, tcp_mbps=10, udp_pps=1000, port=5100):
        common = ["/usr/bin/python3", STEADY]
        self._source = lab.start(wire.server, "source", *common, "source", "--port", port, "--tcp-mbps", tcp_mbps,
                                 "--udp-pps", udp_pps, urgent=True)
        self._source.wait_for("ready")
        self._sink = lab.start(wire.ue, "sink", *common, "sink", "--port", port, "--server", wire.server_address, "--source",
                               wire.ue_addresses[-1], urgent=True)
        self._sink.wait_for("[1-9]")
        time.sleep(1)

    def samples(self):
        return [tuple(map(float, line.split())) for line in self._sink.output().split("\n")[:-1]]

    def between(self, begin, end):
        """(bytes of TCP, datagrams of UDP) that arrived."""
        inside = [sample for sample in self.samples() if begin <= sample[0] <= end]
        first, last = inside[0], inside[-1]
        scale = (end - begin) / (last[0] - first[0])
        return (last[1] - first[1]) * scale, (last[2] - first[2]) * scale

    def over(self, seconds):
        begin = time.monotonic()
        time.sleep(seconds + 0.2)
        return self.between(begin, begin + seconds)

    def stop(self):
        for process in (self._sink, self._source):
            process.stop()


class Load:
    """begin() returns when it is at work, end() when it has ended as it should: whatever was sent has arrived."""

    OTHERS_MBPS = 10  # of the others' download, meanwhile

    def __init__(self, wire, server):
        self.wire, self.server = wire, server

    def client(self, number=0, timeout=PATIENCE):
        return traffic.Client(self.wire.server_address, self.wire.ue.socket, self.server.port,
                              source=self.wire.ue_addresses[number % (len(self.wire.ue_addresses) - 1)], timeout=timeout)


class PausingReaders(Load):
    """A hundred downloads whose programs read a little and then nothing."""

    COUNT, SIZE, HEAD = 100, 2_000_000, 100_000

    def begin(self):
        self._open = []
        for number in range(self.COUNT):
            connection = self.client(number).connect({"do": "send", "bytes": self.SIZE, "seed": number})
            self._open.append((number, connection, traffic.read_exactly(connection, self.HEAD)))
        time.sleep(2)

    def end(self):
        def read(index):
            number, connection, head = self._open[index]
            with connection:
                rest = traffic.read_exactly(connection, self.SIZE - self.HEAD)
                assert connection.recv(1) == b""
            assert head + rest == b"".join(traffic.payload(number, self.SIZE))

        traffic.many(self.COUNT, 20, read)


class FullSpeed(Load):
    """A hundred downloads as fast as they go."""

    COUNT = 100
    OTHERS_MBPS = 1  # less than each of these gets: it is no share of the machine that is asked for

    def begin(self):
        self._stop, self.read, self._failures = threading.Event(), 0, []
        self._threads = [threading.Thread(target=self._download, args=(i,), daemon=True) for i in range(self.COUNT)]
        for thread in self._threads:
            thread.start()
        time.sleep(1)

    def _download(self, number):
        buffer = bytearray(1 << 18)
        try:
            with self.client(number).connect({"do": "until"}) as connection:
                asked = False
                while count := connection.recv_into(buffer):
                    self.read += count
                    if self._stop.is_set() and not asked:
                        asked = True
                        connection.shutdown(socket.SHUT_WR)
        except OSError as error:
            self._failures.append(repr(error))

    def end(self):
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in self._threads)
        assert not self._failures, self._failures


class TinySegments(Load):
    """Sixty sockets of one UE that takes 88 bytes a segment, and whose programs do not read."""

    COUNT, MSS = 60, 88

    def begin(self):
        self._open = []
        for _ in range(self.COUNT):
            connection = self.wire.ue.socket()
            connection.settimeout(PATIENCE)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, self.MSS)
            connection.bind((self.wire.ue_addresses[0], 0))
            connection.connect((self.wire.server_address, self.server.port))
            connection.sendall(json.dumps({"do": "timed", "seconds": 120}).encode() + b"\n")
            self._open.append(connection)
        time.sleep(2)

    def end(self):
        for connection in self._open:
            traffic.reset(connection)


class Holes(Load):
    """Nine connections, 36 864 segments of one byte, each behind a hole."""

    COUNT, EACH, BLOCK = 9, 4096, 1024
    ORDER = b'{"do": "sink", "id": "%d"}\n'
    port = 20_000  # of the next connection; each is used once

    def begin(self):
        self._host = RawHost(self.wire, RAW_ADDRESS, self.server.port).__enter__()
        self._open = []
        for _ in range(self.COUNT):
            Holes.port += 1
            connection = self._host.connect(Holes.port)
            connection.order = self.ORDER % Holes.port
            connection.data = bytes(i * 7 % 251 for i in range(2 * self.EACH))
            connection.send(0, connection.order)
            self._open.append(connection)
        self._wait_until(lambda connection: connection.acknowledged >= len(connection.order))
        frames = [connection.frame(16, len(connection.order) + at, connection.data[at:at + 1])
                  for at in range(1, 2 * self.EACH, 2) for connection in self._open]
        for frame in frames:
            self._host.tap.send(frame)

    def _wait_until(self, condition):
        deadline = time.monotonic() + PATIENCE
        while not all(map(condition, self._open)):
            assert time.monotonic() < deadline, [connection.acknowledged for connection in self._open]
            time.sleep(0.02)

    def end(self):
        def last(connection):
            return len(connection.order) + len(connection.data)

        deadline = time.monotonic() + PATIENCE
        while any(connection.acknowledged < last(connection) for connection in self._open):
            assert time.monotonic() < deadline
            for connection in self._open:
                at = connection.acknowledged - len(connection.order)
                connection.send(connection.acknowledged, connection.data[at:at + self.BLOCK])
            time.sleep(0.02)
        for connection in self._open:
            connection.send(last(connection), flags=17)
            sha = hashlib.sha256(connection.data).hexdigest()
            assert self.server.result(str(connection.port)) == (len(connection.data), sha, 0)
            connection.answer(last(connection) + 1)
        time.sleep(0.1)
        for connection in self._open:
            connection.answer(last(connection) + 1)
        self._host.__exit__()


class OneByteWindow(Load):
    """Connections of a host that takes one byte at a time."""

    COUNT, SIZE = 8, 300_000

    def begin(self):
        self._host = RawHost(self.wire, RAW_ADDRESS, self.server.port).__enter__()
        self._open = []
        for seed in range(self.COUNT):
            Holes.port += 1
            connection = self._host.connect(Holes.port, window=1)
            connection.send(0, b'{"do": "send", "bytes": %d, "seed": %d}\n' % (self.SIZE, seed))
            self._open.append(connection)
        time.sleep(2)

    def end(self):
        for connection in self._open:
            connection.window = 65535
            connection.answer()
        self._host.pause = 0.001
        deadline = time.monotonic() + PATIENCE
        while not all(connection.finished for connection in self._open):
            assert time.monotonic() < deadline, [connection.taken for connection in self._open]
            time.sleep(0.02)
        for seed, connection in enumerate(self._open):
            assert (connection.taken, connection.sha.hexdigest()) == (self.SIZE, traffic.digest(seed, self.SIZE))
            connection.send(connection.acknowledged, flags=17)
        time.sleep(0.1)
        for connection in self._open:
            connection.send(connection.acknowledged)
        self._host.__exit__()


LOADS = {"pausing": PausingReaders, "full-speed": FullSpeed, "tiny": TinySegments, "holes": Holes, "one-byte": OneByteWindow}


class Bench:
    """Two hosts, the proxy with its default limits between them, others that send all the while."""

    def __init__(self, lab, control=False, tcp_mbps=10, udp_pps=1000, **changes):
        self.wire = lab.bump(ues=5)
        lab.know_each_other(self.wire)
        self.sluice = None
        if control:
            self.wire.box.bridge("br0", "core", "radio")
        else:
            self.sluice = programs.Sluice(lab, self.wire.box, mode="i-tcp", **changes)
        self.server = traffic.Server(self.wire.server.socket)
        self.others = Others(lab, self.wire, tcp_mbps, udp_pps)

    def round(self, load, seconds, meanwhile=lambda: None):
        """(without, with) what the others get, of one load that begins and ends."""
        without = self.others.over(seconds)
        load.begin()
        during = self.others.over(seconds)
        meanwhile()
        load.end()
        return without, during

    def wait_for_memory(self, seconds=10, most=512):
        """Seconds until the packet buffers are back, but for those that the others' traffic takes."""
        begin = time.monotonic()
        while self.sluice.buffers_in_use() - self.sluice.buffers_at_rest > most:
            assert time.monotonic() < begin + seconds, self.sluice.ask("status")["packet_buffers"]
            time.sleep(0.05)
        return time.monotonic() - begin


def measure(kind, arguments, folder):
    ratios, notes = [], []
    with lab_module.Lab("overload", folder) as lab:
        bench = Bench(lab, arguments.control, 0 if arguments.bulk else LOADS[kind].OTHERS_MBPS)
        for _ in range(arguments.rounds):
            load = LOADS[kind](bench.wire, bench.server)
            used = []

            def look():
                if bench.sluice:
                    before = bench.sluice.process.cpu_seconds()
                    time.sleep(1)
                    used.append((bench.sluice.buffers_in_use(), bench.sluice.process.cpu_seconds() - before))

            without, during = bench.round(load, arguments.seconds, look)
            ratios.append([b / a for a, b in zip(without, during)])
            back = bench.wait_for_memory() if bench.sluice else 0
            notes.append(f"{without[0] * 8 / arguments.seconds / 1e6:.0f} Mb/s, {without[1] / arguments.seconds:.0f}/s; "
                         f"{used}; back in {back:.1f} s")
        if bench.sluice:
            notes.append({name: value for name, value in bench.sluice.counters().items() if value and any(
                word in name for word in ("refused", "memory", "exhausted", "forgotten", "drop", "reset", "missed"))})
        bench.others.stop()
    return ratios, notes


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", choices=[[], *LOADS], default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--bulk", action="store_true", help="the others' download is as fast as it goes, not 10 Mb/s (1 under full speed)")
    parser.add_argument("--control", action="store_true", help="the kernel's bridge in the proxy's place")
    arguments = parser.parse_args()
    if reason := lab_module.why_not():
        sys.exit(f"overload: {reason}")
    lab_module.exit_on_sigterm()
    for kind in arguments.kinds or LOADS:
        with tempfile.TemporaryDirectory(prefix="overload") as folder:
            try:
                ratios, notes = measure(kind, arguments, folder)
            except BaseException:
                for log in Path(folder).glob("s*.log"):
                    print(log.name, log.read_text()[-1500:], file=sys.stderr)
                raise
        tcp, udp = ([each[i] for each in ratios] for i in (0, 1))
        print(f"{kind:12} TCP {statistics.median(tcp):.3f} {[round(x, 3) for x in tcp]}  UDP {statistics.median(udp):.3f} "
              f"{[round(x, 3) for x in udp]}")
        for note in notes:
            print(f"             {note}")
        sys.stdout.flush()


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
