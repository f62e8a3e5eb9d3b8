#!/usr/bin/python3
"""What the proxy makes of a port, beside a forwarder that looks at no packet (tests/bench/plain_forwarder.cpp): bulk
downloads and small requests of kernel hosts through the same two af_packet ports, whose thread never sleeps. Where there
is more than one processor it has one to itself, and the hosts have the others.

    server - plain_forwarder, or sluice (bypass, i-tcp) - UE

The three take turns; the table has the median of each. Real time: needs root, and a machine with nothing else to do."""

import argparse
import os
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
import transit

WAYS = ("plain", "bypass", "i-tcp")
PORT = 5201
ASKED = 64  # bytes of a request, and of its answer
WARM_UP = 0.5  # seconds
PACE = 0.002  # seconds from one request to the next where the time that one takes is measured


def serve():
    """Answers each request with as many bytes, until it is ended."""
    with socket.create_server(("", PORT), backlog=128) as listener:
        print("listening", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()


def answer(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while True:
            connection.sendall(traffic.read_exactly(connection, ASKED))
    except (OSError, traffic.TrafficError):
        connection.close()


def ask(connection, number=0):
    connection.sendall(transit.numbered(number, ASKED))
    traffic.read_exactly(connection, ASKED)


def requests_a_second(wire, seconds):
    """One after the other, by one connection."""
    with traffic.Client(wire.server_address, wire.ue.socket, PORT).connect() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end, count = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            ask(connection)
            count += 1
    return count / seconds


def times_of_requests(wire, seconds):
    """Microseconds, sorted: of single requests, far below what can be asked, and of each frame of theirs through the box."""
    times = []
    with traffic.Client(wire.server_address, wire.ue.socket, PORT).connect() as connection, \
            transit.Watch(wire.ue, "eth0", PORT) as client, transit.Watch(wire.server, "eth0", PORT) as server:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = time.monotonic() + seconds
        while (begin := time.monotonic()) < end:
            ask(connection, len(times))
            times.append((time.monotonic() - begin) * 1e6)
            time.sleep(PACE)
        return sorted(times), transit.through(client.times(), server.times())


def download(wire, port, streams, seconds):
    """Bits per second of payload that so many downloads bring together, after the warm-up."""
    counted = [0] * streams
    begin = time.monotonic() + WARM_UP

    def take(number):
        client = traffic.Client(wire.server_address, wire.ue.socket, port)
        with client.connect({"do": "timed", "seconds": seconds + WARM_UP + 30}) as connection:
            buffer = bytearray(1 << 20)
            while (now := time.monotonic()) < begin + seconds:
                size = connection.recv_into(buffer)
                counted[number] += size if now >= begin else 0
            traffic.reset(connection)

    threads = [threading.Thread(target=take, args=(i,)) for i in range(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counted) * 8 / seconds


def processors():
    """Those of the hosts, and that of the thread that polls, or None: it has none to itself."""
    all_of_them = sorted(os.sched_getaffinity(0))
    return (all_of_them[:-1], all_of_them[-1]) if len(all_of_them) > 1 else (all_of_them, None)


def start(way, lab, wire, polls):
    """What stands between the two hosts, its thread on the processor `polls`; what ends it."""
    if way == "plain":
        program = programs.BUILD / "bench" / "plain_forwarder"
        if not program.is_file():
            raise lab_module.LabError(f"{program} was not built (./run build release plain_forwarder)")
        runtime = lab.log_dir / "runtime"
        runtime.mkdir()
        pinned = [] if polls is None else ["taskset", "--cpu-list", polls]
        process = wire.box.start("plain", *pinned, program, programs.af_packet(0, "core"), programs.af_packet(1, "radio"),
                                 environment={"XDG_RUNTIME_DIR": str(runtime)}, urgent=True)
        process.wait_for("ready")
        return process.stop
    shards = {"poll": "busy"} if polls is None else {"poll": "busy", "cpus": [polls]}
    return programs.Sluice(lab, wire.box, mode=way, shards=shards).stop_and_check


def measure(way, seconds, polls):
    """Of one way: Gb/s of one and of eight downloads, requests a second, median of a request's time in us, median and p99
    of a frame's time through the box in us."""
    with tempfile.TemporaryDirectory(prefix="ports") as folder, lab_module.Lab("ports", Path(folder)) as lab:
        wire = lab.bump()
        lab.know_each_other(wire)
        stop = start(way, lab, wire, polls)
        wire.server.start("answers", sys.executable, __file__, "serve").wait_for("listening")
        with traffic.Server(wire.server.socket, congestion="cubic") as server:
            gigabits = [download(wire, server.port, streams, seconds) / 1e9 for streams in (1, 8)]
        requests = requests_a_second(wire, seconds)
        times, through = times_of_requests(wire, 2 * seconds)
        stop()
        return (*gigabits, requests, times[len(times) // 2], through[len(through) // 2], through[len(through) * 99 // 100])


def show(runs):
    names = ("1 download, Gb/s", "8, Gb/s", "requests/s", "one takes, us", "a frame, us", "p99, us")
    medians = {way: [statistics.median(values) for values in zip(*of_way)] for way, of_way in runs.items()}
    print(f"{'':8}" + "".join(f"{name:>22}" for name in names))
    for way, values in medians.items():
        cells = []
        for number, value in enumerate(values):
            plain = medians["plain"][number]
            compared = f"{value / plain:.2f}" if number < 3 else f"{value - plain:+.0f}"
            cells.append(f"{value:.{0 if value > 100 else 2}f} ({compared})")
        print(f"{way:8}" + "".join(f"{cell:>22}" for cell in cells))


def main():
    if sys.argv[1:] == ["serve"]:
        serve()
    parser = argparse.ArgumentParser(prog="./run bench ports", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="of each thing that is measured (3)")
    parser.add_argument("--repeat", type=int, default=3, help="turns (3)")
    arguments = parser.parse_args()
    if reason := lab_module.why_not():
        sys.exit(f"ports: {reason}")
    lab_module.exit_on_sigterm()
    hosts, polls = processors()
    os.sched_setaffinity(0, hosts)
    runs = {way: [] for way in WAYS}
    for turn in range(1, arguments.repeat + 1):
        for way, of_way in runs.items():
            of_way.append(measure(way, arguments.seconds, polls))
            print(f"{turn}/{arguments.repeat} {way}: " + "  ".join(f"{value:.5g}" for value in of_way[-1]), file=sys.stderr)
    show(runs)


if __name__ == "__main__":
    main()
