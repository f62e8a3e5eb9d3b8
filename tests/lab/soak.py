#!/usr/bin/python3
"""Random kernel TCP traffic through the proxy for a long time: every byte is checked, and memory must not grow."""

import argparse
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import lab as lab_module
import programs
import traffic

WORKERS = 12


def one(generator, client, server):
    """One random transfer; its name."""
    size, seed = int(generator.lognormvariate(11, 2)), generator.getrandbits(30)
    size = min(size, 20_000_000)
    action = generator.choice(["download", "upload", "duplex", "leave", "reset", "vanish", "refused"])
    if action == "leave":
        client.server_leaves_first(server, size, seed)
    elif action == "reset":
        client.reset_by_server(size, seed, settle=generator.random() < 0.5)
    elif action == "vanish":
        client.reset_by_client(server, size, seed, settle=generator.random() < 0.5)
    elif action == "refused":
        if not traffic.Client(client.address, client._make_socket, 9).connect_error(timeout=10):
            raise traffic.TrafficError("a refused connection was accepted")
    else:
        getattr(client, action)(size, seed)
    return action


def worker(number, seed, client, server, end, done, failures):
    generator = random.Random(seed * 1000 + number)
    while time.monotonic() < end and not failures:
        try:
            action = one(generator, client, server)
            done[action] = done.get(action, 0) + 1
        except (OSError, AssertionError) as error:
            failures.append(f"worker {number}: {error!r}")


def resident_kib(process):
    for line in Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def soak(minutes, seed, log_dir):
    with lab_module.Lab("soak", log_dir) as lab:
        wire = lab.bump(ues=WORKERS)
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp")
        done, failures = {}, []
        with traffic.Server(wire.server.socket) as server:
            end = time.monotonic() + 60 * minutes
            clients = [traffic.Client(wire.server_address, wire.ue.socket, server.port, source=address)
                       for address in wire.ue_addresses]
            threads = [threading.Thread(target=worker, args=(i, seed, client, server, end, done, failures))
                       for i, client in enumerate(clients)]
            for thread in threads:
                thread.start()
            early = None
            while any(thread.is_alive() for thread in threads):
                time.sleep(min(10, max(0.5, end - time.monotonic())))
                if sluice.process.poll() is not None:
                    failures.append(f"sluice ended with {sluice.process.poll()}")
                    break
                resident = resident_kib(sluice.process)
                early = early or resident
                print(f"{sum(done.values())} transfers, {resident} KiB resident", flush=True)
            for thread in threads:
                thread.join()
            if not failures and resident_kib(sluice.process) > early * 1.2 + 10_000:
                failures.append(f"resident memory grew from {early} KiB to {resident_kib(sluice.process)} KiB")
        sluice.stop_and_check()
        print(", ".join(f"{count} {action}" for action, count in sorted(done.items())))
        for failure in failures:
            print(f"FAILED {failure}")
        return 1 if failures or not done else 0


def main():
    parser = argparse.ArgumentParser(prog="./run soak")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    args = parser.parse_args()
    reason = lab_module.why_not()
    if reason:
        print(f"soak: {reason}", file=sys.stderr)
        return 1
    lab_module.exit_on_sigterm()
    log_dir = Path(tempfile.mkdtemp(prefix="sluice-soak-"))
    print(f"seed {args.seed}, logs in {log_dir}")
    return soak(args.minutes, args.seed, log_dir)


if __name__ == "__main__":
    sys.exit(main())
