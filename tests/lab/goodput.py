#!/usr/bin/python3
"""Goodput against the Linux kernel's CUBIC on impaired paths: loss x round-trip time x reordering, in network namespaces.

    kernel     server ------------------ impaired wire - UE
    proxy      server - sluice (i-tcp) - impaired wire - UE

The same wire (tests/bench/impaired_wire.cpp) with the same seed carries a download in each; the sender across it is the
kernel in the one and the proxy's endpoint (CUBIC as well) in the other. Spurious retransmissions are counted at the UE,
the same way for both: segments that brought nothing new, which its kernel reports as duplicates (RFC 2883).

Real time: other work on the machine falsifies the figures, and so do too many runs at a time."""

import argparse
import concurrent.futures
import itertools
import math
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import lab as lab_module
import programs
import traffic

LOSS = (0, 0.001, 0.01, 0.02, 0.05)
RTT_MS = (20, 60, 150)
REORDER = (0, 0.01, 0.05)
WARM_UP = 1.0  # seconds that are not counted: slow start on a path of any length
RELAY_BUFFER = "4MiB"  # what the kernel may keep unacknowledged (tcp_wmem): windows of the longest path do not meet it
GOAL_MEAN, GOAL_WORST = 1.0, 0.9


def impaired_wire(lab, box, core, radio, loss, rtt_ms, reorder, arguments, seed):
    """Starts the wire between two interfaces of the box."""
    program = programs.BUILD / "bench" / "impaired_wire"
    if not program.is_file():
        raise lab_module.LabError(f"{program} was not built (./run build release impaired_wire)")
    runtime = lab.log_dir / "wire-runtime"
    runtime.mkdir(exist_ok=True)
    process = box.start("wire", program, programs.af_packet(0, core), programs.af_packet(1, radio), loss, reorder, rtt_ms,
                        arguments.rate, seed, environment={"XDG_RUNTIME_DIR": str(runtime)},
                        urgent=True)
    process.wait_for("ready: ", timeout=30)
    return process


def kernel_counter(namespace, *names):
    """The sum of these counters of /proc/net/netstat."""
    with namespace.entered():
        lines = Path("/proc/thread-self/net/netstat").read_text(encoding="ascii").splitlines()
    values = {}
    for keys, numbers in zip(lines[::2], lines[1::2]):
        values.update(zip(keys.split()[1:], map(int, numbers.split()[1:])))
    return sum(values[name] for name in names)


def download(wire, port, seconds):
    """Bits per second of payload, after the warm-up."""
    client = traffic.Client(wire.server_address, wire.ue.socket, port)
    with client.connect({"do": "timed", "seconds": seconds + WARM_UP + 30}) as connection:
        begin, counted, buffer = time.monotonic(), 0, bytearray(1 << 18)
        while (now := time.monotonic()) < begin + WARM_UP + seconds:
            connection.settimeout(max(0.01, begin + WARM_UP + seconds - now))
            try:
                size = connection.recv_into(buffer)
            except TimeoutError:
                break
            if now >= begin + WARM_UP:
                counted += size
        traffic.reset(connection)
    return counted * 8 / seconds


def measure(proxied, cell, arguments, seed):
    """(goodput in bit/s, duplicates that reached the UE) of one cell."""
    with tempfile.TemporaryDirectory(prefix="goodput") as folder, lab_module.Lab("goodput", folder) as lab:
        wire = lab.bump()
        lab.know_each_other(wire)
        entry = "core"
        if proxied:
            lab.link(wire.box, "proxy-radio", wire.box, "wire-core")
            entry = "wire-core"
            programs.Sluice(lab, wire.box, radio="proxy-radio", core="core", mode="i-tcp",
                            tcp={"congestion": arguments.congestion}, limits={"relay_buffer": RELAY_BUFFER})
        impaired_wire(lab, wire.box, entry, "radio", *cell, arguments, seed)
        with traffic.Server(wire.server.socket, congestion="cubic") as server:
            goodput = download(wire, server.port, arguments.seconds)
        return goodput, kernel_counter(wire.ue, "TCPDSACKOldSent", "TCPDSACKOfoSent")


def measure_in_worker(*task):
    """measure() in a process of a pool, which would take the request to end for a task that failed, and the next task."""
    try:
        return measure(*task)
    except SystemExit as left:
        os._exit(left.code)  # the namespaces are gone by now


def table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(str(value).rjust(width) for value, width in zip(row, widths)) for row in rows)


def cells_of(arguments):
    if arguments.quick:
        return [(0, 20, 0), (0.01, 60, 0.01)]
    chosen = [[value for value in values if not only or value in only]
              for values, only in ((LOSS, arguments.loss), (RTT_MS, arguments.rtt), (REORDER, arguments.reorder))]
    return list(itertools.product(*chosen))


def spread(runs):
    """The relative standard error of their mean; nothing is known of a single run's."""
    mean = statistics.fmean(runs)
    return statistics.stdev(runs) / math.sqrt(len(runs)) / mean if len(runs) > 1 and mean > 0 else math.nan


def compare(cell, kernel, proxy):
    """(ratio of the means, row of the table) from the (goodput, duplicates) of each run. The runs of a cell meet different
    losses, the kernel's and the proxy's too: hence the standard error beside the ratio."""
    goodput = [[value for value, _ in runs] for runs in (kernel, proxy)]
    means = [statistics.fmean(values) for values in goodput]
    ratio = means[1] / max(means[0], 1)
    error = ratio * math.hypot(*map(spread, goodput))
    again = [sum(count for _, count in runs) for runs in (kernel, proxy)]
    return ratio, (f"{cell[0] * 100:g}", cell[1], f"{cell[2] * 100:g}", f"{means[0] / 1e6:.2f}", f"{means[1] / 1e6:.2f}",
                   f"{ratio:.2f}", "" if math.isnan(error) else f"{error:.2f}", *again)


def measured(cells, repeat, parallel, arguments):
    """Yields (cell, kernel's runs, proxy's runs), the cells in their order."""
    seeds = range(arguments.seed, arguments.seed + repeat)
    with concurrent.futures.ProcessPoolExecutor(parallel, initializer=lab_module.exit_on_sigterm) as workers:
        try:
            started = [(cell, [[workers.submit(measure_in_worker, proxied, cell, arguments, seed) for seed in seeds]
                               for proxied in (False, True)]) for cell in cells]
            for cell, runs in started:
                yield cell, *([run.result() for run in of_one] for of_one in runs)
        except BaseException:
            workers.shutdown(wait=False, cancel_futures=True)
            for worker in multiprocessing.active_children():
                worker.terminate()  # it removes its namespaces
            raise


def all_runs(cells, arguments):
    """Cells without loss fill the wire: they run alone, and once, for there is little chance in them."""
    yield from measured([cell for cell in cells if cell[0] == 0], 1, 1, arguments)
    yield from measured([cell for cell in cells if cell[0] > 0], arguments.repeat, arguments.parallel, arguments)


def run(arguments):
    rows = [("loss %", "RTT ms", "reordered %", "kernel Mb/s", "proxy Mb/s", "ratio", "+-", "kernel dup.", "proxy dup.")]
    ratios = {}
    cells = cells_of(arguments)
    for number, (cell, kernel, proxy) in enumerate(all_runs(cells, arguments), 1):
        ratios[cell], row = compare(cell, kernel, proxy)
        rows.append(row)
        print(f"{number}/{len(cells)}: loss {cell[0] * 100:g} %, {cell[1]} ms, reordered {cell[2] * 100:g} %: "
              f"{ratios[cell]:.2f}", file=sys.stderr)
    print(table(rows))
    mean = math.exp(statistics.fmean(math.log(max(ratio, 1e-6)) for ratio in ratios.values()))
    worst = min(ratios, key=ratios.get)
    print(f"geometric mean of proxy / kernel {mean:.3f} (goal {GOAL_MEAN:g}); worst cell {ratios[worst]:.2f} (goal "
          f"{GOAL_WORST:g}) at loss {worst[0] * 100:g} %, {worst[1]} ms, reordered {worst[2] * 100:g} %")
    print(f"duplicates at the UE: kernel {sum(row[-2] for row in rows[1:])}, proxy {sum(row[-1] for row in rows[1:])}")
    return mean, ratios[worst]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10, help="measured in each cell, after the warm-up (10)")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each cell with loss, with seeds one after the other, of which the mean counts (1)")
    parser.add_argument("--parallel", type=int, default=1, help="runs at a time of cells with loss; each takes a tenth of a processor (1)")
    parser.add_argument("--rate", type=float, default=50, help="of the wire, in Mb/s (50)")
    parser.add_argument("--seed", type=int, default=1, help="of everything random (1)")
    parser.add_argument("--congestion", default="cubic", help="the proxy's; the kernel's is always cubic (cubic)")
    for name, values, meaning in (("loss", LOSS, "shares lost"), ("rtt", RTT_MS, "round-trip times in ms"),
                                  ("reorder", REORDER, "shares reordered")):
        parser.add_argument(f"--{name}", type=float, nargs="+", choices=[float(value) for value in values],
                            help=f"only cells of these {meaning}")
    parser.add_argument("--quick", action="store_true", help="two cells only, to see that it works")
    arguments = parser.parse_args()
    if reason := lab_module.why_not():
        sys.exit(f"goodput: {reason}")
    lab_module.exit_on_sigterm()
    run(arguments)


if __name__ == "__main__":
    main()
